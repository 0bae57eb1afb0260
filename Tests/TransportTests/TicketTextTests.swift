import SyncModel
import SyncTransport
import Testing

@Suite struct TicketTextTests {
    private var ticket: Ticket {
        Ticket(
            inviter: DeviceID(bytes: (0..<32).map { UInt8($0) })!, secret: (0..<16).map { UInt8($0 * 16) },
            expiresAtMilliseconds: 1_700_000_000_123,
            addresses: ["kitchen.local:80", "[2001:db8::5]:21817", "192.168.1.5:21817", "10.0.0.1:1"].map {
                HostPort(text: $0)!
            })
    }

    private func ticket(addresses: [String]) -> Ticket {
        Ticket(
            inviter: DeviceID(bytes: Array(repeating: 255, count: 32))!, secret: Array(repeating: 255, count: 16),
            expiresAtMilliseconds: .max, addresses: addresses.map { HostPort(text: $0)! })
    }

    @Test func `a ticket is read as it was written`() throws {
        #expect(try Ticket(text: ticket.text) == ticket)
        #expect(ticket.text.hasPrefix("lanyard2"))
        #expect(ticket.address == HostPort(text: "192.168.1.5:21817"))
        #expect(ticket.expiresAtMilliseconds == 1_700_000_001_000)
        #expect(ticket.text.utf8.allSatisfy { $0.isLowerLetterOrDigit })
    }

    @Test func `case, spaces and line breaks do not matter`() throws {
        let text = ticket.text
        let wrapped = stride(from: 0, to: text.count, by: 40).map { String(text.dropFirst($0).prefix(40)) }
        #expect(try Ticket(text: "  " + wrapped.joined(separator: "\n\t ") + "\r\n") == ticket)
        #expect(try Ticket(text: text.uppercased()) == ticket)
    }

    @Test func `a ticket has 80 characters with an address, and fewer without`() throws {
        for address in ["255.255.255.255:65535", "1.2.3.4:0"] {
            let made = ticket(addresses: [address])
            #expect(made.text.count == 80)
            #expect(try Ticket(text: made.text) == made && made.address?.description == address)
        }
        let none = ticket(addresses: ["[fe80::1%eth0]:1", "[2001:db8::5]:21817", "kitchen.local:80"])
        #expect(none.text.count == 71)
        #expect(try Ticket(text: none.text) == none && none.address == nil)
    }

    @Test func `a ticket knows the device that made it by half of its id`() {
        let made = DeviceID(bytes: (0..<32).map { UInt8($0) })!
        #expect(ticket.isMade(by: made) && ticket.inviter == Array(made.bytes.prefix(16)))
        for index in 0..<16 {
            var other = made.bytes
            other[index] ^= 1
            #expect(!ticket.isMade(by: DeviceID(bytes: other)!))
        }
    }

    @Test func `every wrong, missing, doubled or exchanged character is noticed`() {
        let characters = Array(ticket.text.utf8)
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        for position in 8..<characters.count {
            var wrong = characters
            wrong[position] = alphabet[(alphabet.firstIndex(of: wrong[position])! + 1 + position % 31) % 32]
            expectMistyped(wrong)
            var missing = characters
            missing.remove(at: position)
            expectMistyped(missing)
            var doubled = characters
            doubled.insert(characters[position], at: position)
            expectMistyped(doubled)
            if position + 1 < characters.count, characters[position] != characters[position + 1] {
                var exchanged = characters
                exchanged.swapAt(position, position + 1)
                expectMistyped(exchanged)
            }
        }
        for length in 8..<characters.count { expectMistyped(Array(characters.prefix(length))) }
    }

    private func expectMistyped(_ characters: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: TicketError.mistyped, sourceLocation: sourceLocation) {
            try Ticket(text: String(decoding: characters, as: UTF8.self))
        }
    }

    @Test func `what is no ticket, and what is a later one, is told apart`() {
        for text in ["", "hello", "lanyard", "lanyardx", "https://example.org", "lanyard-1abc", "\u{0}"] {
            #expect(throws: TicketError.notATicket) { try Ticket(text: text) }
        }
        #expect(throws: TicketError.otherVersion(3)) { try Ticket(text: "lanyard3abcdefgh") }
        #expect(throws: TicketError.otherVersion(1)) { try Ticket(text: "lanyard1abcdefgh") }
        #expect(throws: TicketError.mistyped) { try Ticket(text: "lanyard2") }
        #expect(throws: TicketError.mistyped) { try Ticket(text: "lanyard2" + String(repeating: "a", count: 100_000)) }
        #expect(throws: TicketError.mistyped) { try Ticket(text: "lanyard2äöü") }
    }

    @Test func `any bytes are a ticket or an error, and never a crash`() {
        var generator = SeededGenerator(seed: 4)
        let valid = Array(ticket.text.utf8)
        for _ in 0..<20_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let position = Int.random(in: 7..<bytes.count, using: &generator)
                bytes[position] = UInt8.random(in: 0...255, using: &generator)
                if Bool.random(using: &generator) { bytes.removeSubrange(position..<bytes.count) }
                if bytes.count < 9 { bytes = valid }
            }
            _ = try? Ticket(text: String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test func `the identifier shows nothing of the secret and differs with it`() {
        #expect(ticket.id.bytes.count == 16)
        #expect(ticket.id != TicketID(secret: [UInt8](repeating: 0, count: 16)))
        #expect(ticket.id.bytes != ticket.secret)
    }

    @Test func `each error has a code, a sentence and a next step`() {
        for error in [TicketError.notATicket, .mistyped, .otherVersion(1), .otherVersion(3)] {
            #expect(error.code.hasPrefix("ticket_") && error.message.hasSuffix(".") && !error.hint.isEmpty)
        }
    }
}

extension UInt8 {
    fileprivate var isLowerLetterOrDigit: Bool { (0x61...0x7a).contains(self) || (0x30...0x39).contains(self) }
}

/// SplitMix64: the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
