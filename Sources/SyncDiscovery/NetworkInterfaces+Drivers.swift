import Glibc

extension NetworkInterfaces {
    /// The drivers of the interfaces that are up and reach neighbours, by index: `virtio_net`, `veth`, `macvlan`. Empty text
    /// where the kernel does not say.
    package var drivers: [String] {
        all.filter { $0.isRunning && $0.reachesNeighbours }.map { Self.driver(of: $0.name) }
    }

    /// Returns the driver of an interface, as `ethtool -i` prints it; asking needs no privilege. Empty where there is none.
    package static func driver(of interface: String) -> String {
        let name = Array(interface.utf8)
        guard name.count < Int(IFNAMSIZ) else { return "" }
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        // linux/ethtool.h, struct ethtool_drvinfo: 196 bytes, first the command, then the driver's name in 32 bytes.
        var answer = [UInt8](repeating: 0, count: 196)
        // netdevice(7), struct ifreq: 40 bytes, first the interface's name in 16 bytes, then a pointer.
        var request = [UInt8](repeating: 0, count: 40)
        request.replaceSubrange(0..<name.count, with: name)
        let outcome = answer.withUnsafeMutableBytes { answer in
            answer.storeBytes(of: Self.getDriverCommand, as: UInt32.self)
            return request.withUnsafeMutableBytes { request in
                request.storeBytes(of: answer.baseAddress, toByteOffset: 16, as: UnsafeMutableRawPointer?.self)
                return ioctl(descriptor, Self.ethtoolRequest, request.baseAddress!)
            }
        }
        guard outcome == 0 else { return "" }
        return String(decoding: answer[4..<36].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// SIOCETHTOOL and ETHTOOL_GDRVINFO; neither is in the C library's module.
    private static let ethtoolRequest: UInt = 0x8946
    private static let getDriverCommand: UInt32 = 3
}
