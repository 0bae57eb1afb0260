import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import SyncCore
import SyncModel
import SyncStore
import Testing
import lanyard

/// Memberships that end by themselves.
@Suite(.timeLimit(.minutes(20))) struct MembershipEndTests {
    private static var now: Timestamp {
        Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    /// A moment that comes soon: no sooner than a join takes on a machine that is busy.
    private static var soon: Timestamp {
        Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch / 1_000 * 1_000 + 30_000)
    }

    private static let far = Timestamp(millisecondsSinceEpoch: 32_472_144_000_000)

    /// Nil where the device is not known yet.
    private func entry(_ device: LiveAgent, on live: LiveAgent) async throws -> DeviceEntry? {
        try await live.agent.devices(space: "home").first { $0.id == device.device }
    }

    private func join(
        _ inviter: LiveAgent, _ joiner: LiveAgent, as role: Role = .reader, until: Timestamp
    ) async throws {
        let invitation = try await inviter.agent.invite(
            space: "home", role: role, expiresSeconds: 600, until: until)
        #expect(invitation.until == until && invitation.expires <= until)
        _ = try await joiner.agent.join(ticket: invitation.ticket)
    }

    @Test func `a writer's guest is revoked on all devices when its time is over, and stays in once it is readmitted`()
        async throws
    {
        try await RoleChangeTests.withMesh { desk, hall, attic async throws in
            try await LiveAgent.with(named: "phone") { phone async throws in
                let end = Self.soon
                try await join(hall, phone, until: end)
                for live in [desk, hall, attic] {
                    try await live.until { _ async throws in
                        try await entry(phone, on: live)?.state == "revoked"
                    }
                    let found = try #require(try await entry(phone, on: live))
                    #expect(found.until == end && found.revokedBy == desk.device, "\(found)")
                    #expect(try #require(found.revokedAt) >= end, "\(found)")
                }
                #expect(Self.now >= end)
                try await phone.until { agent async throws in
                    try await agent.status(space: nil).warnings.contains { $0.code == "revoked" }
                }
                let log = try await desk.agent.trust(space: "home", after: nil, limit: 100).entries
                let revocations = log.filter { $0.action == "revoked" }
                #expect(revocations.map(\.author) == [desk.device] && revocations[0].deviceName == "phone")
                let request = RoleRequest(role: .writer)
                _ = try await desk.agent.setRole(space: "home", device: phone.device, request)
                // The guest has a link to its host only.
                try await hall.converge(with: phone)
                try await phone.until { agent async throws in
                    try await agent.status(space: nil).spaces[0].role == .writer
                }
                try await phone.put("note/back", "{}")
                for live in [desk, hall] {
                    try await live.until { agent async throws in
                        try await agent.status(space: nil).spaces[0].objects == 1
                    }
                    let found = try #require(try await entry(phone, on: live))
                    #expect(found.until == nil && found.state != "revoked", "\(found)")
                }
                // An invitation behind that has an end of its own.
                try await join(desk, phone, as: .writer, until: Self.far)
                #expect(try await entry(phone, on: desk)?.until == Self.far)
            }
        }
    }

    @Test func `a device whose time passed while no admin ran stays in until one runs`() async throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        try await LiveAgent.with(named: "hall") { hall async throws in
            let end = Self.soon
            try await LiveAgent.with(in: data) { desk async throws in
                try await join(desk, hall, as: .writer, until: end)
                try await desk.until { _ async throws in try await entry(hall, on: desk)?.state == "connected" }
            }
            try await hall.until { _ async throws in Self.now > end }
            try await hall.put("note/n", "{}")
            try await LiveAgent.with(in: data) { desk async throws in
                try await desk.until { _ async throws in try await entry(hall, on: desk)?.state == "revoked" }
            }
        }
    }

    @Test func `a revoked device that an admin invites again is in until the new end`() async throws {
        try await RoleChangeTests.withMesh { desk, hall, _ async throws in
            _ = try await desk.agent.revoke(space: "home", device: "hall", RevocationRequest())
            try await join(desk, hall, as: .writer, until: Self.far)
            try await desk.converge(with: hall)
            for live in [desk, hall] {
                let found = try #require(try await entry(hall, on: live))
                #expect(found.until == Self.far && found.state != "revoked", "\(found)")
            }
        }
    }

    /// The lines of a device about another one in its log of trust: actions with the roles that they give.
    private func deeds(of author: LiveAgent, about device: LiveAgent) async throws -> [String] {
        try await author.agent.trust(space: "home", after: nil, limit: 100).entries.filter {
            $0.author == author.device && $0.device == device.device
        }.map { entry in ([entry.action] + [entry.role?.rawValue].compactMap(\.self)).joined(separator: " ") }
    }

    @Test func `an invitation without an end leaves the one that holds`() async throws {
        try await LiveAgent.with { desk async throws in
            try await LiveAgent.with(named: "phone") { phone async throws in
                try await join(desk, phone, as: .writer, until: Self.far)
                try await RoleChangeTests.join(desk, phone, as: .admin)
                #expect(try await deeds(of: desk, about: phone) == ["admitted writer", "admitted admin"])
                for live in [desk, phone] {
                    let found = try #require(try await entry(phone, on: live))
                    #expect(found.until == Self.far && found.role == .admin, "\(found)")
                }
            }
        }
    }

    @Test func `an admin's invitation makes a reader a writer by a statement, whatever came before`() async throws {
        try await LiveAgent.with { desk async throws in
            try await LiveAgent.with(named: "phone") { phone async throws in
                try await join(desk, phone, as: .reader, until: Self.far)
                for _ in 0..<2 { try await RoleChangeTests.join(desk, phone, as: .writer) }
                var expected = ["admitted reader", "roleGiven writer"]
                #expect(try await deeds(of: desk, about: phone) == expected)
                #expect(try await entry(phone, on: desk)?.until == Self.far)
                let later = Timestamp(millisecondsSinceEpoch: Self.far.millisecondsSinceEpoch + 86_400_000)
                try await join(desk, phone, as: .writer, until: later)
                expected.append("admitted reader")
                #expect(try await deeds(of: desk, about: phone) == expected)
                let found = try #require(try await entry(phone, on: desk))
                #expect(found.until == later && found.role == .writer, "\(found)")
                try await phone.put("note/n", "{}")
                try await desk.converge(with: phone)
                #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
                // Neither does its return make it one by a fact.
                _ = try await desk.agent.revoke(space: "home", device: "phone", RevocationRequest())
                try await phone.until { agent async throws in
                    try await agent.status(space: nil).warnings.contains { $0.code == "revoked" }
                }
                try await RoleChangeTests.join(desk, phone, as: .writer)
                expected += ["revoked", "readmitted writer", "admitted reader"]
                #expect(try await deeds(of: desk, about: phone) == expected)
                try await phone.put("note/m", "{}")
                try await desk.converge(with: phone)
                #expect(try await desk.agent.status(space: nil).spaces[0].objects == 2)
            }
        }
    }

    @Test func `an admin alone ends no membership, for its clock may be wrong, and does once a member says its time`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        try await LiveAgent.with(named: "hall") { hall async throws in
            let end = Self.soon
            try await LiveAgent.with(in: data) { desk async throws in
                try await join(desk, hall, as: .writer, until: end)
                try await desk.until { _ async throws in try await entry(hall, on: desk)?.state == "connected" }
                _ = try await hall.agent.block(space: "home", device: desk.device)
            }
            try await hall.until { _ async throws in Self.now > end }
            try await LiveAgent.with(in: data) { desk async throws in
                // What is said at the start comes before this.
                try await desk.put("note/n", "{}")
                #expect(try await entry(hall, on: desk)?.state == "offline")
                let met = Self.now
                _ = try await hall.agent.unblock(space: "home", device: desk.device)
                try await desk.until { _ async throws in try await entry(hall, on: desk)?.state == "revoked" }
                let found = try #require(try await entry(hall, on: desk))
                #expect(try #require(found.revokedAt) >= met, "\(found)")
            }
        }
    }

    @Test func `the clock of a connected member that differs holds an end off, a guest's and an absent one's do not`()
        async throws
    {
        try await RoleChangeTests.withMesh { desk, hall, _ async throws in
            try await LiveAgent.with(named: "phone") { phone async throws in
                func say(_ device: LiveAgent, ahead milliseconds: Int64) {
                    let time = Self.now.millisecondsSinceEpoch + milliseconds
                    desk.agent.journal.record(
                        .peerClock(device.agent.device, wallMilliseconds: time), logger: desk.agent.logger)
                }
                let fact = try #require(try await desk.agent.snapshot().membership[hall.agent.device]).fact
                /// Has desk look again.
                func admitAgain() async throws {
                    for outcome in try await desk.agent.write([.operations([.addMember(fact)])]) {
                        _ = try outcome.get()
                    }
                }
                let end = Self.soon
                try await join(desk, phone, until: end)
                try await desk.until { _ async throws in try await entry(phone, on: desk)?.state == "connected" }
                say(hall, ahead: 3_600_000)
                say(phone, ahead: -3_600_000)
                try await desk.until { _ async throws in Self.now > end }
                try await admitAgain()
                try await desk.put("note/n", "{}")
                #expect(try await entry(phone, on: desk)?.state != "revoked")
                let left = Self.now
                await hall.stop()
                try await desk.until { _ async throws in try await entry(hall, on: desk)?.state == "offline" }
                try await admitAgain()
                try await desk.until { _ async throws in try await entry(phone, on: desk)?.state == "revoked" }
                let found = try #require(try await entry(phone, on: desk))
                #expect(try #require(found.revokedAt) >= left, "\(found)")
            }
        }
    }

    @Test func `a guest that is let in again until the same time is revoked again`() async throws {
        try await LiveAgent.with { desk async throws in
            try await LiveAgent.with(named: "hall") { hall async throws in
                try await RoleChangeTests.join(desk, hall, as: .writer)
                try await LiveAgent.with(named: "phone") { phone async throws in
                    try await join(desk, phone, until: Self.soon)
                    func revocations() async throws -> Int {
                        try await deeds(of: desk, about: phone).count { $0 == "revoked" }
                    }
                    try await desk.until { _ async throws in try await revocations() == 1 }
                    let device = phone.agent.device
                    let fact = try #require(try await desk.agent.snapshot().membership[device]).fact
                    // As by an admin's ticket whose clock is behind.
                    let writes = [
                        LocalWrite.trust(TrustOrder(.readmission(device, .reader))), .operations([.addMember(fact)]),
                    ]
                    for outcome in try await desk.agent.write(writes) { _ = try outcome.get() }
                    try await desk.until { _ async throws in try await revocations() == 2 }
                    #expect(try await entry(phone, on: desk)?.state == "revoked")
                }
            }
        }
    }

    @Test func `a ticket keeps the end over a restart`() async throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        let text = try await LiveAgent.with(in: data) { desk async throws in
            try await desk.agent.invite(space: "home", role: .reader, expiresSeconds: 600, until: Self.far).ticket
        }
        try await LiveAgent.with(in: data) { desk async throws in
            try await LiveAgent.with(named: "hall") { hall async throws in
                // The port is another one by now.
                _ = try await hall.agent.addAddress(host: "127.0.0.1", port: desk.agent.listenPort)
                _ = try await hall.agent.join(ticket: text)
                try await desk.converge(with: hall)
                for live in [desk, hall] { #expect(try await entry(hall, on: live)?.until == Self.far) }
                #expect(try await entry(desk, on: hall)?.until == nil)
            }
        }
    }

    @Test func `a time that is over is refused, and so is a pairing with one`() async throws {
        try await LiveAgent.with { desk async throws in
            let over = Timestamp(millisecondsSinceEpoch: Self.now.millisecondsSinceEpoch - 1_000)
            let errors = [
                await RoleChangeTests.refusal {
                    try await desk.agent.invite(space: "home", role: .reader, expiresSeconds: 60, until: over)
                },
                await RoleChangeTests.refusal {
                    try await desk.agent.openPairing(try PairingWish(PairRequest(until: over)))
                },
            ]
            for error in errors {
                #expect(error?.code == .invalidArgument && error?.hint.contains("--until 30d") == true)
            }
            #expect(try await desk.agent.pairing() == nil)
        }
    }

    @Test(arguments: Road.allCases) func `the route takes an RFC 3339 time, and answers it`(road: Road) async throws {
        try await road.withAgent { request, _ async throws in
            for (until, shown) in [
                (#""2999-01-31T18:00:00+01:00""#, "2999-01-31T17:00:00.000Z"),
                (#""2999-01-31T18:00:00.900Z""#, "2999-01-31T18:00:00.000Z"),
            ] {
                let answer = try await request("POST", "/v1/invitations", body: #"{"until":\#(until)}"#)
                #expect(try answer.value(InviteResponse.self).until?.description == shown, "\(answer.text)")
            }
            let never = try await request("POST", "/v1/invitations", body: "{}")
            #expect(never.text.contains(#""until":null"#), "\(never.text)")
            for until in [#""2001-01-31T18:00:00Z""#, #""2999-01-31""#, #""30d""#, "1800000000", "true"] {
                let answer = try await request("POST", "/v1/invitations", body: #"{"until":\#(until)}"#)
                #expect(answer.status == 400 && answer.code == "invalid_argument", "\(until): \(answer.text)")
            }
        }
    }

    @Test func `a length is from now, a zone counts, and all else is refused`() throws {
        let now = Timestamp(millisecondsSinceEpoch: 1_800_000_000_000)
        func end(_ text: String) throws -> Int64? {
            try MembershipEnd.parse(text, now: now)?.millisecondsSinceEpoch
        }
        #expect(try MembershipEnd.parse(nil, now: now) == nil)
        #expect(try end("30d") == 1_802_592_000_000)
        #expect(try end("12h") == 1_800_043_200_000)
        #expect(try end("2027-01-31T18:00Z") == 1_801_418_400_000)
        #expect(try end("2027-01-31T18:00:00-02:00") == 1_801_425_600_000)
        for text in [
            "", "soon", "30", "2027-02-31", "2027-1-31", "2027-01-31T25:00", "2027-01-31T18", "-3d", "0d",
            "2026-12-31", "2027-01-15T07:59Z", "99999999999d", "3000000d",
        ] {
            let error = #expect(throws: ControlError.self, "\(text)") { try end(text) }
            #expect(error?.code == .invalidArgument && error?.hint.contains("--until") == true, "\(text)")
        }
    }

    @Test func `the commands take a date by the clock of the machine, and devices has a column for it`() async throws {
        try await LiveServer.with { server async throws in
            func lanyard(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.lanyard(
                    arguments, socket: server.socketPath, environment: ["TZ": "XYZ-2"])
            }
            let day = try await lanyard("invite", "--role", "reader", "--until", "2999-01-31")
            let sentence = day.output.replacing("\n", with: " ")
            #expect(sentence.contains("a reader until 2999-01-31 23:59:59"), "\(day)")
            let time = try await lanyard("invite", "--until", "2999-01-31T18:00", "--json")
            #expect(time.output.contains(#""until":"2999-01-31T16:00:00.000Z""#), "\(time)")
            for arguments in [["invite", "--until", "2001-01-31"], ["pair", "--until", "never"]] {
                let refused = try await CommandRun.lanyard(arguments + ["--json"], socket: server.socketPath)
                #expect(refused.exitCode == 2 && refused.errors.contains("invalid_argument"), "\(refused)")
            }
            #expect(try await !lanyard("devices").output.contains("UNTIL"))
            try await LiveAgent.with(named: "attic") { attic async throws in
                try await join(server.live, attic, until: Self.far)
                let devices = try await lanyard("devices")
                #expect(
                    devices.output.contains("UNTIL") && devices.output.contains("2999-01-01 02:00:00"), "\(devices)")
            }
        }
    }
}
