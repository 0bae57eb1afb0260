import Crypto
import SyncModel

/// The reason why a text is no ticket.
package enum TicketError: Error, Sendable, Equatable {
    case notATicket
    /// A ticket, but characters are missing, wrong or too many.
    case mistyped
    /// The ticket was made by an agent of another version.
    case otherVersion(Int)

    package var code: String {
        switch self {
        case .notATicket: "ticket_not_a_ticket"
        case .mistyped: "ticket_mistyped"
        case .otherVersion: "ticket_other_version"
        }
    }

    package var message: String {
        switch self {
        case .notATicket: "This is no ticket: a ticket begins with lanyard\(Ticket.version)."
        case .mistyped: "This ticket is not whole: characters are missing or wrong."
        case .otherVersion(let version):
            "This ticket has version \(version); this agent reads version \(Ticket.version)."
        }
    }

    package var hint: String {
        switch self {
        case .notATicket: "Run `lanyard invite` on a device that is in, and give its output to `lanyard join`."
        case .mistyped: "Copy the ticket again as one piece; `lanyard join -` reads it from standard input."
        case .otherVersion(let version):
            version > Ticket.version
                ? "Upgrade this agent." : "Upgrade the agent that made it, and ask for a new one: `lanyard invite`"
        }
    }
}

/// The text form: `lanyard2` and base32 in lower case, which survives being read aloud and selected with a double click;
/// at most 80 characters.
///
/// Bytes before base32: inviter (16), secret (16), expiry in seconds since 1970 (4, big-endian), none or one IPv4 address (4 and
/// its port in 2), and 3 bytes of SHA-256("lanyard/ticket/check/v2" ‖ all before) to tell a mistyped ticket.
extension Ticket {
    private static let prefix = "lanyard"
    private static let checkByteCount = 3
    /// 63 or 72 characters.
    private static let byteCounts = [39, 45]

    package var text: String {
        var bytes = inviter + secret
        let seconds = UInt32(clamping: expiresAtMilliseconds / 1_000)
        bytes += withUnsafeBytes(of: seconds.bigEndian) { Array($0) }
        if let address, let host = address.ipv4Bytes {
            bytes += host + [UInt8(truncatingIfNeeded: address.port >> 8), UInt8(truncatingIfNeeded: address.port)]
        }
        bytes += Self.check(bytes)
        let characters = Base32.digits(of: bytes).map { Base32.alphabet[Int($0)] }
        return Self.prefix + String(Self.version) + String(decoding: characters, as: UTF8.self).lowercased()
    }

    /// Reads the text form; case, white space and line breaks inside do not matter.
    package init(text: String) throws(TicketError) {
        let characters = text.utf8.filter { $0 > 0x20 }
        let head = String(decoding: characters.prefix(Self.prefix.utf8.count), as: UTF8.self).lowercased()
        guard head == Self.prefix, characters.count > head.utf8.count else { throw .notATicket }
        // One digit.
        let version = characters[head.utf8.count]
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(version) else { throw .notATicket }
        guard version == UInt8(ascii: "0") + Self.version else { throw .otherVersion(Int(version) - 0x30) }
        try self.init(digits: characters[(head.utf8.count + 1)...])
    }

    private init(digits characters: ArraySlice<UInt8>) throws(TicketError) {
        let byteCount = characters.count * 5 / 8
        guard Self.byteCounts.contains(byteCount) else { throw .mistyped }
        var digits: [UInt8] = []
        for character in characters {
            guard let digit = Base32.digit(of: character) else { throw .mistyped }
            digits.append(digit)
        }
        guard let bytes = Base32.bytes(of: digits, count: byteCount) else { throw .mistyped }
        let body = Array(bytes.dropLast(Self.checkByteCount))
        guard Self.check(body) == Array(bytes.suffix(Self.checkByteCount)) else { throw .mistyped }
        let (keyEnd, secretEnd) = (Self.inviterByteCount, Self.inviterByteCount + Self.secretByteCount)
        let (expiryEnd, hostEnd) = (secretEnd + 4, secretEnd + 8)
        self.init(
            inviter: Array(body[..<keyEnd]), secret: Array(body[keyEnd..<secretEnd]),
            expiresAtSeconds: UInt32(Self.number(body[secretEnd..<expiryEnd])),
            address: body.count == expiryEnd
                ? nil : HostPort(ipv4Bytes: body[expiryEnd..<hostEnd], port: Self.number(body[hostEnd...])))
    }

    /// Returns the number in at most four bytes, big-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func check(_ body: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Array("lanyard/ticket/check/v2".utf8) + body).prefix(checkByteCount))
    }
}
