import CAvahi
import Glibc

/// The interfaces of this machine as they are now, and which of them neighbours are behind.
package struct NetworkInterfaces: Sendable, Equatable {
    package struct Interface: Sendable, Equatable {
        package var name: String
        package var index: Int32
        package var isRunning: Bool
        package var reachesNeighbours: Bool
        /// Network byte order, 4 or 16 bytes, sorted.
        package var addresses: [[UInt8]]
    }

    /// The interfaces, sorted by index.
    package var all: [Interface]

    /// The interfaces on which our record is announced: up, speaking multicast, with an address, and not the inner side of a
    /// container engine (its addresses are the same on every machine and lead nowhere).
    package var announced: [Interface] {
        all.filter { interface in
            interface.reachesNeighbours && interface.isRunning && !interface.addresses.isEmpty
                && !Self.isContainerBridge(interface.name)
        }
    }

    /// The addresses of interfaces that are up and have a carrier. Empty when the system does not answer.
    package var runningAddresses: Set<[UInt8]> { Set(all.filter(\.isRunning).flatMap(\.addresses)) }

    /// Recognises container bridges by the names that Docker, Podman, CNI, LXC and libvirt give. `br-` alone is a usual name
    /// for a real bridge: only Docker's, with its 12 hex digits, is meant.
    package static func isContainerBridge(_ name: String) -> Bool {
        let prefixes = ["docker", "podman", "cni", "veth", "virbr", "lxcbr", "lxdbr", "incusbr", "flannel", "cali"]
        if prefixes.contains(where: name.hasPrefix) { return true }
        let networkID = name.dropFirst(3)
        return name.hasPrefix("br-") && networkID.utf8.count == 12 && networkID.allSatisfy(\.isHexDigit)
    }

    /// Empty when the system does not answer, which then looks like no interfaces: the next change asks again.
    package static func current() -> NetworkInterfaces {
        var head: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&head) == 0 else { return NetworkInterfaces(all: []) }
        defer { freeifaddrs(head) }
        var byIndex: [Int32: Interface] = [:]
        var next = head
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let rawName = entry.ifa_name else { continue }
            let index = Int32(bitPattern: if_nametoindex(rawName))
            guard index > 0 else { continue }
            let (flags, name) = (entry.ifa_flags, String(cString: rawName))
            var interface = byIndex[index] ?? Interface(name: name, flags: flags, index: index)
            if let address = address(entry.ifa_addr) { interface.addresses.append(address) }
            byIndex[index] = interface
        }
        for index in byIndex.keys { byIndex[index]?.addresses.sort { $0.lexicographicallyPrecedes($1) } }
        return NetworkInterfaces(all: byIndex.values.sorted { $0.index < $1.index })
    }

    private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let pointer else { return nil }
        let raw = UnsafeRawPointer(pointer)
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
        case AF_INET6:
            return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
        case _:
            return nil
        }
    }
}

extension NetworkInterfaces.Interface {
    fileprivate init(name: String, flags: UInt32, index: Int32) {
        func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
        self.init(
            name: name, index: index,
            isRunning: has(IFF_UP) && has(IFF_RUNNING),
            reachesNeighbours: has(IFF_MULTICAST) && !has(IFF_LOOPBACK)
                && !has(IFF_POINTOPOINT),
            addresses: [])
    }
}
