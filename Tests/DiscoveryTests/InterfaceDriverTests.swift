import Glibc
import SyncDiscovery
import Testing

@Suite struct InterfaceDriverTests {
    @Test(arguments: ["lo", "no-such-if", "", String(repeating: "x", count: 300), "a\u{0}b"])
    func `an interface without a driver, or none at all, has an empty one`(name: String) {
        #expect(NetworkInterfaces.driver(of: name) == "")
    }

    /// The kernel links `device` for interfaces of real and virtual hardware; its driver is what ethtool prints.
    @Test func `the driver of hardware is the one that the kernel links`() {
        for interface in NetworkInterfaces.current().all {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = buffer.withUnsafeMutableBytes {
                readlink("/sys/class/net/\(interface.name)/device/driver", $0.baseAddress!, $0.count)
            }
            guard count > 0 else { continue }
            let link = String(decoding: buffer[..<count], as: UTF8.self)
            #expect(!NetworkInterfaces.driver(of: interface.name).isEmpty, "\(interface.name): \(link)")
        }
    }
}
