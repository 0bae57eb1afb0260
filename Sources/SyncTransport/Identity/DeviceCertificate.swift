package import Crypto
package import FoundationEssentials

/// The self-signed certificate that carries a device key through TLS. Only the key in it counts; it contains no name of a
/// person or device.
///
/// The DER has one shape: an X.509 certificate of version 3 without extensions (RFC 5280 §4.1), issuer and subject
/// `CN=lanyard`, a P-256 key (RFC 5480), ecdsa-with-SHA256 (RFC 5758 §3.2). Reading certificates is BoringSSL's work.
package enum DeviceCertificate {
    /// Twenty years in seconds. Lanyard ignores the dates, but some TLS stacks would refuse expired ones.
    private static let validity: TimeInterval = 20 * 365.25 * 86_400

    /// Returns the DER of a certificate for `key`, valid from a day before `now`, since clocks differ.
    package static func der(_ key: P256.Signing.PrivateKey, now: Date = Date()) throws -> [UInt8] {
        let body = DER.sequence(
            DER.element(.version, DER.element(.integer, [2])),
            DER.element(.integer, randomSerialNumber()),
            ecdsaWithSHA256,
            name,
            DER.sequence(DER.time(now.addingTimeInterval(-86_400)), DER.time(now.addingTimeInterval(validity))),
            name,
            Array(key.publicKey.derRepresentation))
        let signature = try key.signature(for: body).derRepresentation
        return DER.sequence(body, ecdsaWithSHA256, DER.element(.bitString, [0], Array(signature)))
    }

    /// Returns 20 bytes, the most that RFC 5280 §4.1.2.2 allows: positive and without a leading zero, as DER demands.
    private static func randomSerialNumber() -> [UInt8] {
        [UInt8.random(in: 0x01...0x7f)] + (0..<19).map { _ in UInt8.random(in: 0...0xff) }
    }

    /// 1.2.840.10045.4.3.2, without parameters.
    private static let ecdsaWithSHA256 = DER.sequence(
        DER.element(.objectIdentifier, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))

    /// One part, whose attribute is 2.5.4.3, the common name.
    private static let name = DER.sequence(
        DER.element(
            .set,
            DER.sequence(
                DER.element(.objectIdentifier, [0x55, 0x04, 0x03]), DER.element(.utf8String, Array("lanyard".utf8)))))
}

/// The parts of DER (X.690) that a device certificate consists of, written only.
private enum DER {
    enum Tag: UInt8 {
        case integer = 0x02
        case bitString = 0x03
        case objectIdentifier = 0x06
        case utf8String = 0x0c
        case utcTime = 0x17
        case generalizedTime = 0x18
        case sequence = 0x30
        case set = 0x31
        /// The certificate's field `[0]`.
        case version = 0xa0
    }

    /// Returns one element: tag, length in the shortest form, contents. Less than 64 KiB.
    static func element(_ tag: Tag, _ contents: [UInt8]...) -> [UInt8] { element(tag, contents) }

    static func sequence(_ contents: [UInt8]...) -> [UInt8] { element(.sequence, contents) }

    private static func element(_ tag: Tag, _ contents: [[UInt8]]) -> [UInt8] {
        let contents = contents.flatMap(\.self)
        let length: [UInt8] =
            switch contents.count {
            case ..<0x80: [UInt8(contents.count)]
            case ..<0x100: [0x81, UInt8(contents.count)]
            case ..<0x1_0000: [0x82, UInt8(contents.count >> 8), UInt8(contents.count & 0xff)]
            default: preconditionFailure("a certificate's element of \(contents.count) bytes")
            }
        return [tag.rawValue] + length + contents
    }

    /// Returns a time in whole seconds: UTCTime, which has two digits for the year, until 2049 (RFC 5280 §4.1.2.5).
    static func time(_ date: Date) -> [UInt8] {
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
        let digits = date.formatted(style).filter { $0 != "T" }
        return digits < "2050"
            ? element(.utcTime, Array(digits.dropFirst(2).utf8)) : element(.generalizedTime, Array(digits.utf8))
    }
}
