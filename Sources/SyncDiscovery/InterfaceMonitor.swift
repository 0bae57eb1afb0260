import CAvahi
import Glibc

/// A monitor of the kernel's reports (rtnetlink, `man 7 rtnetlink`) of links and addresses that come and go. Confined to one
/// thread.
///
/// Only real changes count: routers refresh IPv6 addresses every few minutes and wireless drivers report statistics as
/// link messages, so what was heard is compared with the interfaces as they were. One thing a comparison cannot see
/// counts too: an IPv6 address that may be used at last, since dialling from it fails until its duplicates were sought.
final class InterfaceMonitor {
    let descriptor: Int32
    private(set) var interfaces: NetworkInterfaces
    private var tentative: Set<[UInt8]> = []
    private static let maximumTentative = 256
    private var buffer = [UInt8](repeating: 0, count: 32_768)

    /// Nil when the kernel refuses the socket (a sandbox without AF_NETLINK).
    init?() {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let netlink = socket(AF_NETLINK, type, NETLINK_ROUTE)
        guard netlink >= 0 else { return nil }
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(netlink, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        guard bound == 0 else {
            close(netlink)
            return nil
        }
        descriptor = netlink
        interfaces = NetworkInterfaces.current()
    }

    deinit {
        close(descriptor)
    }

    /// Takes in everything the kernel said; true if something changed.
    func drain() -> Bool {
        var isSettled = false
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                isSettled = takeIn(count) || isSettled
            } else if count == 0 || (errno != EINTR && errno != ENOBUFS) {
                break
            }
        }
        let now = NetworkInterfaces.current()
        defer { interfaces = now }
        return isSettled || now != interfaces
    }

    /// Walks one datagram; true if an address that was tentative no longer is.
    private func takeIn(_ count: Int) -> Bool {
        var isSettled = false
        buffer.withUnsafeBytes { bytes in
            var offset = 0
            while offset + MemoryLayout<nlmsghdr>.size <= count {
                let header = bytes.loadUnaligned(fromByteOffset: offset, as: nlmsghdr.self)
                let length = Int(header.nlmsg_len)
                guard length >= MemoryLayout<nlmsghdr>.size, offset + length <= count else { return }
                let body = UnsafeRawBufferPointer(
                    rebasing: bytes[offset + MemoryLayout<nlmsghdr>.size..<offset + length])
                if Int32(header.nlmsg_type) == RTM_NEWADDR { isSettled = addressSettled(body) || isSettled }
                offset += (length + 3) & ~3
            }
        }
        return isSettled
    }

    private func addressSettled(_ body: UnsafeRawBufferPointer) -> Bool {
        guard body.count >= MemoryLayout<ifaddrmsg>.size else { return false }
        let message = body.loadUnaligned(as: ifaddrmsg.self)
        guard Int32(message.ifa_family) == AF_INET6, let address = address(in: body) else { return false }
        let key = withUnsafeBytes(of: message.ifa_index) { Array($0) } + address
        if Int32(message.ifa_flags) & IFA_F_TENTATIVE != 0 {
            if tentative.count < Self.maximumTentative { tentative.insert(key) }
            return false
        }
        return tentative.remove(key) != nil
    }

    /// The attribute IFA_ADDRESS.
    private func address(in body: UnsafeRawBufferPointer) -> [UInt8]? {
        var offset = MemoryLayout<ifaddrmsg>.size
        while offset + MemoryLayout<rtattr>.size <= body.count {
            let attribute = body.loadUnaligned(fromByteOffset: offset, as: rtattr.self)
            let length = Int(attribute.rta_len)
            guard length >= MemoryLayout<rtattr>.size, offset + length <= body.count else { return nil }
            if Int(attribute.rta_type) == Int(IFA_ADDRESS) {
                return Array(body[offset + MemoryLayout<rtattr>.size..<offset + length])
            }
            offset += (length + 3) & ~3
        }
        return nil
    }
}
