import ControlAPI
import ControlServer
import LanyardClient
import SyncAgent
import SyncModel
import Testing

/// The roles that tickets and pairings give, and the founder that a device follows.
@Suite(.timeLimit(.minutes(20))) struct RoleTests {
    private func role(of device: LiveAgent, seenBy live: LiveAgent) async throws -> Role? {
        try await live.agent.devices(space: "home").first { $0.id == device.device }?.role
    }

    private func join(_ inviter: LiveAgent, _ joiner: LiveAgent, as role: Role) async throws {
        let ticket = try await inviter.agent.invite(space: "home", role: role, expiresSeconds: 60)
        #expect(ticket.role == role)
        let joined = try await joiner.agent.join(ticket: ticket.ticket)
        #expect(joined == JoinResponse(device: inviter.device, space: "home", role: role))
        try await inviter.converge(with: joiner)
    }

    @Test(arguments: Role.allCases)
    func `a ticket gives the role that it was made with, and the joiner follows the inviter's founder`(
        role: Role
    ) async throws {
        try await LiveAgent.with { desk async throws in
            #expect(try await desk.agent.founder() == desk.agent.device)
            #expect(try await desk.agent.ownRole() == .admin)
            try await LiveAgent.with(named: "hall") { hall async throws in
                try await join(desk, hall, as: role)
                #expect(try await hall.agent.founder() == desk.agent.device)
                #expect(try await desk.agent.founder() == desk.agent.device)
                #expect(try await "\(hall.agent.ownRole())" == role.rawValue)
                #expect(try await desk.agent.ownRole() == .admin)
                for live in [desk, hall] { #expect(try await self.role(of: hall, seenBy: live) == role) }
            }
        }
    }

    @Test func `a device that joins through a member follows the member's founder`() async throws {
        try await LiveAgent.with { desk async throws in
            try await LiveAgent.with(named: "hall") { hall async throws in
                try await join(desk, hall, as: .writer)
                try await LiveAgent.with(named: "attic") { attic async throws in
                    try await join(hall, attic, as: .reader)
                    #expect(try await attic.agent.founder() == desk.agent.device)
                }
            }
        }
    }

    @Test func `when two meshes meet each device keeps its founder`() async throws {
        try await LiveAgent.with { desk async throws in
            try await LiveAgent.with(named: "hall") { hall async throws in
                _ = try await desk.addAwayMember(named: "attic")
                try await join(hall, desk, as: .writer)
                #expect(try await desk.agent.founder() == desk.agent.device)
                #expect(try await hall.agent.founder() == hall.agent.device)
            }
        }
    }

    @Test func `role and founder are known after a restart, and so is the role of a ticket`() async throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        try await LiveAgent.with(named: "attic") { attic async throws in
            let text = try await LiveAgent.with(in: data) { desk async throws in
                try await join(attic, desk, as: .admin)
                return try await desk.agent.invite(space: "home", role: .reader, expiresSeconds: 600).ticket
            }
            try await LiveAgent.with(in: data) { desk async throws in
                #expect(try await desk.agent.founder() == attic.agent.device)
                #expect(try await desk.agent.ownRole() == .admin)
                try await LiveAgent.with(named: "hall") { hall async throws in
                    // The port is another one by now.
                    _ = try await hall.agent.addAddress(host: "127.0.0.1", port: desk.agent.listenPort)
                    #expect(try await hall.agent.join(ticket: text).role == .reader)
                    try await desk.converge(with: hall)
                    #expect(try await role(of: hall, seenBy: desk) == .reader)
                }
            }
        }
    }

    @Test func `a device gives no role above its own, and a reader admits none`() async throws {
        try await LiveAgent.with { desk async throws in
            func refused(_ live: LiveAgent, giving role: Role, _ code: ErrorCode) async throws {
                let invitation = await #expect(throws: ControlError.self) {
                    try await live.agent.invite(space: "home", role: role, expiresSeconds: 60)
                }
                let pairing = await #expect(throws: ControlError.self) {
                    try await live.agent.openPairing(try PairingWish(PairRequest(role: role)))
                }
                for error in [invitation, pairing] {
                    #expect(error?.code == code && error?.hint.isEmpty == false, "\(role.rawValue): \(error as Any)")
                    #expect(error?.message.hasPrefix("This device is a ") == true, "\(error as Any)")
                }
                #expect(try await live.agent.pairing() == nil)
            }
            try await LiveAgent.with(named: "hall") { hall async throws in
                try await join(desk, hall, as: .writer)
                try await refused(hall, giving: .admin, .forbidden)
                _ = try await hall.agent.invite(space: "home", role: .writer, expiresSeconds: 60)
                _ = try await hall.agent.invite(space: "home", role: .reader, expiresSeconds: 60)
            }
            try await LiveAgent.with(named: "attic") { attic async throws in
                try await join(desk, attic, as: .reader)
                for role in Role.allCases { try await refused(attic, giving: role, .readOnly) }
            }
        }
    }

    @Test func `of two roles and ends that are offered by codes those of the host count`() async throws {
        let end = Timestamp(millisecondsSinceEpoch: 32_472_144_000_000)
        try await LiveServer.with(named: "desk") { desk async throws in
            try await LiveServer.with(named: "hall") { hall async throws in
                let there = PairingClient(hall, role: .admin)
                try await there.waiting()
                let here = PairingClient(desk, try hall.live.address.description, role: .reader, until: end)
                let (deskCode, hallCode) = (try await here.code().code, try await there.code().code)
                try await desk.client.typePairing(code: hallCode)
                try await hall.client.typePairing(code: deskCode)
                let (endHere, endThere) = (try await here.pairedLine(), try await there.pairedLine())
                // Of two devices that are alone, the one with the lesser id joins the other one.
                let isDeskGuest = desk.live.agent.device < hall.live.agent.device
                let role = isDeskGuest ? Role.admin : .reader
                #expect(endHere == (hall.live.device, "hall", role, isDeskGuest))
                #expect(endThere == (desk.live.device, "desk", role, !isDeskGuest))
                try await desk.live.converge(with: hall.live)
                let (host, guest) = isDeskGuest ? (hall.live, desk.live) : (desk.live, hall.live)
                for live in [host, guest] {
                    #expect(try await self.role(of: guest, seenBy: live) == role)
                    let devices = try await live.agent.devices(space: "home")
                    #expect(devices.first { $0.id == guest.device }?.until == (isDeskGuest ? nil : end))
                    #expect(try await live.agent.founder() == host.agent.device)
                }
                #expect(try await "\(guest.agent.ownRole())" == role.rawValue)
                #expect(try await host.agent.ownRole() == .admin)
            }
        }
    }

    @Test func `the commands take a role, and say the one that was given`() async throws {
        try await LiveServer.with { server async throws in
            func lanyard(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.lanyard(arguments, socket: server.socketPath)
            }
            let shown = try await lanyard("invite", "--role", "reader")
            #expect(shown.exitCode == 0 && shown.output.contains("a reader"), "\(shown)")
            #expect(try await lanyard("invite").output.contains("a writer"))
            #expect(try await lanyard("invite", "--role", "king").exitCode == 2)
            #expect(try await lanyard("pair", "--role", "king").exitCode == 2)
            try await LiveAgent.with(named: "attic") { attic async throws in
                let ticket = try await attic.agent.invite(space: "home", role: .reader, expiresSeconds: 60).ticket
                let joined = try await lanyard("join", ticket)
                #expect(joined.output.hasPrefix("Joined space home through \(attic.shortID) as reader."), "\(joined)")
                try await server.live.converge(with: attic)
                let refused = try await lanyard("invite", "--role", "reader", "--json")
                #expect(refused.exitCode == 4 && refused.errors.contains("read_only"), "\(refused)")
            }
        }
    }
}
