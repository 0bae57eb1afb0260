import Crypto

/// The daily tag by which members know each other's records, and by which no other device can follow a device from day to day:
/// the first 8 bytes of HMAC-SHA256(key, "lanyard/mdns/v1" ‖ day as 8 bytes, big-endian).
///
/// A match is a hint to dial sooner. A device that copies a tag gains only a refused connection.
package enum DiscoveryTag {
    package static let byteCount = 8

    /// - Parameter day: days since 1970-01-01 UTC.
    package static func tag(key: [UInt8], day: Int64) -> [UInt8] {
        var message = Array("lanyard/mdns/v1".utf8)
        withUnsafeBytes(of: day.bigEndian) { message.append(contentsOf: $0) }
        let code = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
        return Array(code.prefix(byteCount))
    }

    /// Yesterday's and tomorrow's tags count too: clocks differ, and records outlive midnight.
    package static func recognises(_ tag: [UInt8], keys: some Sequence<[UInt8]>, day: Int64) -> Bool {
        guard tag.count == byteCount else { return false }
        return keys.contains { key in
            [day, day &- 1, day &+ 1].contains { Self.tag(key: key, day: $0) == tag }
        }
    }
}
