import Crypto
import SyncModel

/// Why a text is no ticket.
package enum TicketError: Error, Sendable, Equatable {
    case notATicket
    /// A ticket, but characters are missing, wrong or too many.
    case mistyped
    /// Made by a newer version of the agent.
    case newerVersion(Int)

    package var code: String {
        switch self {
        case .notATicket: "ticket_not_a_ticket"
        case .mistyped: "ticket_mistyped"
        case .newerVersion: "ticket_newer_version"
        }
    }

    package var message: String {
        switch self {
        case .notATicket: "This is no ticket: a ticket begins with lanyard1."
        case .mistyped: "This ticket is not whole: characters are missing or wrong."
        case .newerVersion(let version):
            "This ticket has version \(version); this agent reads version \(Ticket.version)."
        }
    }

    package var hint: String {
        switch self {
        case .notATicket: "Run `lanyard invite` on a device that is a member, and give its output to `lanyard join`."
        case .mistyped: "Copy the ticket again as one piece; `lanyard join -` reads it from standard input."
        case .newerVersion: "Upgrade this agent."
        }
    }
}

/// The text form: `lanyard1` and base32 in lower case, which survives being read aloud and selected with a double click.
///
/// Bytes before base32: version, inviter (32), secret (16), expiry in milliseconds (8, big-endian), addresses (count, then
/// each with its length), and 4 bytes of SHA-256("lanyard/ticket/check/v1" ‖ all before) to tell a mistyped ticket.
extension Ticket {
    private static let prefix = "lanyard"
    private static let checkByteCount = 4
    /// 16 addresses of the greatest length, and the rest.
    private static let byteLimit = 16 * (HostPort.hostByteLimit + 12) + 128

    package var text: String {
        var bytes: [UInt8] = [Self.version]
        bytes += inviter.bytes + secret
        bytes.append(bigEndian: UInt64(bitPattern: expiresAtMilliseconds))
        bytes.append(varint: UInt64(addresses.count))
        for address in addresses { bytes.append(lengthPrefixed: address.description.utf8) }
        bytes += Self.check(bytes)
        let characters = Base32.digits(of: bytes).map { Base32.alphabet[Int($0)] }
        return Self.prefix + String(Self.version) + String(decoding: characters, as: UTF8.self).lowercased()
    }

    /// Reads the text form; case, white space and line breaks inside do not matter.
    package init(text: String) throws(TicketError) {
        let characters = text.utf8.filter { $0 > 0x20 }
        let head = String(decoding: characters.prefix(Self.prefix.utf8.count), as: UTF8.self).lowercased()
        guard head == Self.prefix, characters.count > head.utf8.count else { throw .notATicket }
        // Base32 has no digit 1, 8, 9 or 0, so the version ends where it must.
        let version = characters[head.utf8.count]
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(version) else { throw .notATicket }
        guard version == UInt8(ascii: "0") + Self.version else { throw .newerVersion(Int(version) - 0x30) }
        try self.init(digits: characters[(head.utf8.count + 1)...])
    }

    private init(digits characters: ArraySlice<UInt8>) throws(TicketError) {
        let byteCount = characters.count * 5 / 8
        guard byteCount <= Self.byteLimit, byteCount > Self.checkByteCount else { throw .mistyped }
        var digits: [UInt8] = []
        for character in characters {
            guard let digit = Base32.digit(of: character) else { throw .mistyped }
            digits.append(digit)
        }
        guard let bytes = Base32.bytes(of: digits, count: byteCount) else { throw .mistyped }
        let body = Array(bytes.dropLast(Self.checkByteCount))
        guard Self.check(body) == Array(bytes.suffix(Self.checkByteCount)) else { throw .mistyped }
        do throws(CodecError) {
            try self.init(body)
        } catch {
            throw .mistyped
        }
    }

    private init(_ body: [UInt8]) throws(CodecError) {
        var reader = ByteReader(body)
        guard try reader.byte() == Self.version else { throw .outOfRange(field: "ticket.version") }
        let inviterRange = try reader.skip(DeviceID.byteCount)
        let secret = try reader.skip(Self.secretByteCount)
        let expiry = Int64(bitPattern: try reader.bigEndianUInt64())
        let count = try reader.varint(upTo: UInt64(Self.addressLimit), "ticket.addresses")
        var addresses: [HostPort] = []
        for _ in 0..<count {
            let range = try reader.lengthPrefixed(upTo: HostPort.hostByteLimit + 8, "ticket.address")
            guard let text = String(validating: body[range], as: UTF8.self), let address = HostPort(text: text),
                !address.hasScope
            else { throw .outOfRange(field: "ticket.address") }
            addresses.append(address)
        }
        guard reader.isAtEnd, let inviter = DeviceID(bytes: body[inviterRange]) else { throw .trailingBytes }
        self.init(
            inviter: inviter, secret: Array(body[secret]), expiresAtMilliseconds: expiry, addresses: addresses)
    }

    private static func check(_ body: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Array("lanyard/ticket/check/v1".utf8) + body).prefix(checkByteCount))
    }
}
