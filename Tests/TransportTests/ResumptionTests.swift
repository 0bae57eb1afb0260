import Foundation
import NIOCore
import SyncTransport
import Testing

/// A TLS session that is resumed does not ask for the certificate again: it must not be a way in.
///
/// The client is OpenSSL's, which can keep a session and come back with it; the one inside the agent cannot.
@Suite struct ResumptionTests {
    @Test func `a resumed TLS session without a certificate is refused`() async throws {
        let (server, member) = (try await Node(), try await Node())
        try await server.trust(member)
        let address = try await server.listen()
        let ticket = member.directory.path + "/session"
        let key = member.directory.path + "/identity.pem"

        let first = try OpenSSL.Client(address, ["-cert", key, "-key", key, "-sess_out", ticket])
        let inbound = try await server.opened(.inbound)
        // The first frame comes after the session tickets: close once it has left.
        try await server.events.first("the first frame to leave") { events in
            events.contains(.written(inbound, Node.hello.count)) ? () : nil
        }
        try await server.on { $0.close(inbound) }
        let met = try await first.output()
        #expect(met.contains("Server certificate"))
        #expect(FileManager.default.fileExists(atPath: ticket), "without a session the test would show nothing")

        let second = try OpenSSL.Client(address, ["-sess_in", ticket])
        try await server.expectTurnedAway(.noCertificate)
        let answer = try await second.output()
        #expect(!answer.contains("\nReused, TLSv1.3"))
        #expect(server.events.all.count { if case .opened = $0 { true } else { false } } == 1)
    }

    @Test func `a member that resumes shows its certificate again, and gets in`() async throws {
        let (server, member) = (try await Node(), try await Node())
        try await server.trust(member)
        let address = try await server.listen()
        let ticket = member.directory.path + "/session"
        let key = member.directory.path + "/identity.pem"
        for arguments in [["-sess_out", ticket], ["-sess_in", ticket]] {
            let number = server.events.all.count { if case .opened = $0 { true } else { false } }
            let client = try OpenSSL.Client(address, ["-cert", key, "-key", key] + arguments)
            let inbound = try await server.events.first("connection \(number + 1)") { events in
                let opened = events.compactMap { if case .opened(let number, _, _, _, _) = $0 { number } else { nil } }
                return opened.count > number ? opened[number] : nil
            }
            try await server.events.first("the first frame to leave") { events in
                events.contains(.written(inbound, Node.hello.count)) ? () : nil
            }
            try await server.on { $0.close(inbound) }
            #expect(!(try await client.output()).contains("\nReused, TLSv1.3"))
        }
    }

    @Test func `a device that is removed does not come back by a session it kept`() async throws {
        let (server, member) = (try await Node(), try await Node())
        try await server.trust(member)
        let address = try await server.listen()
        let ticket = member.directory.path + "/session"
        let key = member.directory.path + "/identity.pem"
        let first = try OpenSSL.Client(address, ["-cert", key, "-key", key, "-sess_out", ticket])
        let inbound = try await server.opened(.inbound)
        try await server.events.first("the first frame to leave") { events in
            events.contains(.written(inbound, Node.hello.count)) ? () : nil
        }
        try await server.on { $0.close(inbound) }
        _ = try await first.output()
        #expect(FileManager.default.fileExists(atPath: ticket), "without a session the test would show nothing")

        try await server.trust()
        let second = try OpenSSL.Client(address, ["-cert", key, "-key", key, "-sess_in", ticket])
        try await server.expectTurnedAway(.notPaired)
        #expect(!(try await second.output()).contains("\nReused, TLSv1.3"))
        #expect(server.events.all.count { if case .opened = $0 { true } else { false } } == 1)
    }
}
