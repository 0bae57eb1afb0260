import ControlAPI
import ControlServer
import LanyardClient
import SyncAgent
import SyncModel
import SyncStore
import Testing

/// Roles that admins change, and devices that they revoke: what is asked of the agent and over HTTP.
@Suite(.timeLimit(.minutes(20))) struct RoleChangeTests {
    /// Runs `body` with a founder and two members, of this role and a writer, that are in step.
    static func withMesh(
        _ role: Role = .writer, planting faults: AgentFaults = [],
        _ body: (_ desk: LiveAgent, _ hall: LiveAgent, _ attic: LiveAgent) async throws -> Void
    ) async throws {
        try await LiveAgent.with(faults: faults) { desk async throws in
            try await LiveAgent.with(named: "hall", faults: faults) { hall async throws in
                try await join(desk, hall, as: role)
                try await LiveAgent.with(named: "attic", faults: faults) { attic async throws in
                    try await join(desk, attic, as: .writer)
                    try await desk.untilInStep()
                    try await body(desk, hall, attic)
                }
            }
        }
    }

    static func join(_ inviter: LiveAgent, _ joiner: LiveAgent, as role: Role) async throws {
        let ticket = try await inviter.agent.invite(space: "home", role: role, expiresSeconds: 60).ticket
        _ = try await joiner.agent.join(ticket: ticket)
        try await inviter.converge(with: joiner)
    }

    static func entry(_ device: LiveAgent, on live: LiveAgent) async throws -> DeviceEntry {
        let devices = try await live.agent.devices(space: "home")
        return try #require(devices.first { $0.id == device.device })
    }

    private func setRole(_ role: Role, of device: String, on live: LiveAgent) async throws -> DeviceEntry {
        try await live.agent.setRole(space: "home", device: device, RoleRequest(role: role))
    }

    private func revoke(_ device: String, on live: LiveAgent, wipe: Bool = false) async throws -> Revocation {
        try await live.agent.revoke(space: "home", device: device, RevocationRequest(wipe: wipe))
    }

    static func refusal<Value>(_ body: () async throws -> Value) async -> ControlError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? ControlError
        }
    }

    @Test func `a role is changed on all devices, and a reader's writes are refused with the command that helps`()
        async throws
    {
        try await Self.withMesh { desk, hall, attic async throws in
            #expect(try await setRole(.reader, of: "hall", on: desk).role == .reader)
            for live in [desk, hall, attic] {
                try await live.until { _ async throws in try await Self.entry(hall, on: live).role == .reader }
            }
            #expect(try await hall.agent.status(space: nil).spaces[0].role == .reader)
            let put = await Self.refusal { try await hall.put("note/n", "{}") }
            #expect(put?.code == .readOnly && put?.code.exitCode == .refused)
            #expect(put?.message == "This device is a reader here; nothing was written.")
            #expect(put?.hint == "An admin can change that: lanyard devices role hall writer")
            let retirement = await Self.refusal { try await hall.agent.retire(space: "home", device: "attic") }
            #expect(retirement?.code == .readOnly)
            let upload = await Self.refusal { try await hall.attach([1], named: "a", to: "note/n") }
            #expect(upload?.code == .readOnly, "before a byte is sent")
            let settings = await Self.refusal { try await hall.setSchema("note", #"{"fields":{"n":"counter"}}"#) }
            #expect(settings?.code == .readOnly)
            #expect(try await hall.agent.status(space: nil).warnings.allSatisfy { $0.code != "revoked" })
            _ = try await setRole(.writer, of: hall.shortID, on: desk)
            try await hall.until { agent async throws in
                try await agent.status(space: nil).spaces[0].role == .writer
            }
            try await hall.put("note/n", "{}")
            try await desk.converge(with: hall)
            #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
        }
    }

    @Test func `a new ticket of an admin lets a revoked device in again, and no other ticket does`() async throws {
        try await Self.withMesh { desk, hall, attic async throws in
            func revoke() async throws {
                _ = try await desk.agent.revoke(
                    space: "home", device: attic.device, RevocationRequest(recoveryKey: nil))
                try await hall.until { _ async throws in
                    try await Self.entry(attic, on: hall).state == "revoked"
                }
                try await attic.until { agent async throws in
                    try await agent.status(space: nil).warnings.contains { $0.code == "revoked" }
                }
            }
            func ticket(_ live: LiveAgent) async throws -> String {
                try await live.agent.invite(space: "home", role: .writer, expiresSeconds: 60).ticket
            }
            func join(_ ticket: String) async -> ControlError? {
                await Self.refusal { _ = try await attic.agent.join(ticket: ticket) }
            }
            try await revoke()
            let byWriter = await join(try await ticket(hall))
            #expect(byWriter?.hint.contains("an admin has to invite it") == true, "\(byWriter as Any)")
            let again = try await ticket(desk)
            #expect(await join(again) == nil)
            try await desk.converge(with: attic)
            #expect(try await Self.entry(attic, on: desk).state != "revoked")
            try await attic.put("note/n", "{}")
            try await desk.converge(with: attic)
            #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
            let log = try await desk.agent.trust(space: "home", after: nil, limit: 100).entries
            #expect(log.suffix(2).map(\.action).contains("readmitted"), "\(log)")
            try await revoke()
            #expect(await join(again) != nil, "it has used that one")
            #expect(try await Self.entry(attic, on: desk).state == "revoked")
        }
    }

    /// A reader has said of the phone what an admin's agent says when it pairs with it, byte for byte.
    @Test func `a device that only void words admitted is let in by the same words of an admin`() async throws {
        try await Self.withMesh(.reader) { desk, hall, _ async throws in
            try await LiveAgent.with(named: "phone") { phone async throws in
                let device = phone.agent.device
                let own = try #require(try await phone.agent.snapshot().membership[device]).fact
                let fact = own.following(desk.agent.device)
                for outcome in try await hall.agent.write([.operations([.addMember(fact)])]) { _ = try outcome.get() }
                try await desk.until { agent async throws in try await agent.snapshot().cuts.isBarred(device) }
                #expect(try await desk.agent.snapshot().membership[device]?.fact == fact)
                try await Self.join(desk, phone, as: .writer)
                #expect(try await desk.agent.snapshot().cuts.isBarred(device) == false)
                try await phone.put("note/n", "{}")
                try await desk.converge(with: phone)
                #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
            }
        }
    }

    @Test func `a role that the device has is answered, and nothing is written`() async throws {
        try await Self.withMesh { desk, hall, _ async throws in
            let before = try await desk.agent.status(space: nil).spaces[0].changes
            #expect(try await setRole(.writer, of: "hall", on: desk).id == hall.device)
            #expect(try await setRole(.admin, of: "desk", on: desk).state == "this")
            #expect(try await desk.agent.status(space: nil).spaces[0].changes == before)
        }
    }

    @Test func `what is not allowed says who is, and what to type`() async throws {
        try await Self.withMesh(.reader) { desk, hall, attic async throws in
            for live in [hall, attic] {
                for error in [
                    await Self.refusal { try await setRole(.admin, of: live.device, on: live) },
                    await Self.refusal { try await revoke("desk", on: live) },
                ] {
                    #expect(error?.code == .forbidden && error?.message.hasSuffix("Admins: desk.") == true)
                    #expect(error?.hint.contains("lanyard recovery use") == true)
                }
            }
            let last = await Self.refusal { try await setRole(.writer, of: "desk", on: desk) }
            #expect(last?.code == .forbidden && last?.message.contains("the only admin") == true)
            let own = await Self.refusal { try await revoke(desk.device, on: desk) }
            #expect(own?.code == .forbidden && own?.message.contains("cannot revoke itself") == true)
            let unknown = await Self.refusal { try await setRole(.reader, of: "cellar", on: desk) }
            #expect(unknown?.code == .unknownDevice)
            let nobody = await Self.refusal { try await revoke("cellar", on: desk) }
            #expect(nobody?.code == .unknownDevice)
            let space = await Self.refusal { try await desk.agent.recovery(space: "other") }
            #expect(space?.code == .unknownSpace)
            // With another admin it may.
            _ = try await setRole(.admin, of: "attic", on: desk)
            #expect(try await setRole(.writer, of: "desk", on: desk).role == .writer)
            let late = await Self.refusal { try await setRole(.admin, of: "desk", on: desk) }
            #expect(late?.code == .forbidden && late?.message.hasSuffix("Admins: attic.") == true)
        }
    }

    @Test func `a revoked device is out everywhere, says so itself, and comes back as it is told`() async throws {
        try await Self.withMesh { desk, hall, attic async throws in
            let answer = try await revoke("hall", on: desk)
            #expect(answer.device == hall.device && answer.name == "hall" && answer.alsoAdmitted.isEmpty)
            #expect(answer.heard.contains(desk.device) && !answer.heard.contains(hall.device))
            #expect(Set(answer.heard + answer.waitingFor) == [desk.device, attic.device])
            for live in [desk, attic] {
                try await live.until { _ async throws in
                    let entry = try await Self.entry(hall, on: live)
                    return entry.state == "revoked" && Set(entry.heard ?? []) == [desk.device, attic.device]
                        && entry.waitingFor == []
                }
                let entry = try await Self.entry(hall, on: live)
                #expect(entry.revokedBy == desk.device && entry.revokedAt != nil)
                #expect(try await Self.entry(desk, on: live).heard == nil)
            }
            // The device learns of it from those that end its sessions.
            try await hall.until { agent async throws in
                try await agent.status(space: nil).warnings.contains { $0.code == "revoked" }
            }
            let warnings = try await hall.agent.status(space: nil).warnings
            #expect(!warnings.contains { $0.code == "retired" })
            #expect(warnings.first { $0.code == "revoked" }?.message.contains("revoked by desk") == true)
            let put = await Self.refusal { try await hall.put("note/n", "{}") }
            #expect(put?.code == .readOnly && put?.message.contains("was revoked by desk") == true, "\(put as Any)")
            #expect(put?.hint.hasSuffix("lanyard devices role hall writer") == true)
            let role = await Self.refusal { try await setRole(.admin, of: "hall", on: hall) }
            #expect(role?.code == .readOnly)
            func isRevoked(_ answer: WhyResponse) -> Bool {
                answer.chain.contains { $0.link == .pairing && !$0.ok && $0.detail.contains("was revoked") }
            }
            let why = try await hall.agent.why(nil, space: nil)
            #expect(!why.inStep && isRevoked(why), "\(why)")
            #expect(try await !isRevoked(desk.agent.why(nil, space: nil)), "it is no fault of this one")
            #expect(try await isRevoked(desk.agent.why("hall", space: nil)))
            // Again: the same receipts, and no new change.
            try await desk.until { _ async throws in try await Self.tagKey(of: desk, on: desk) != nil }
            let changes = try await desk.agent.status(space: nil).spaces[0].changes
            let again = try await revoke(hall.device, on: desk)
            #expect(Set(again.heard) == [desk.device, attic.device] && again.waitingFor.isEmpty)
            #expect(try await desk.agent.status(space: nil).spaces[0].changes == changes)
            #expect(try await setRole(.writer, of: "hall", on: desk).state != "revoked")
            try await desk.converge(with: hall)
            try await hall.until { agent async throws in
                try await agent.status(space: nil).warnings.allSatisfy { $0.code != "revoked" }
            }
            try await hall.put("note/back", "{}")
            try await desk.converge(with: hall)
            #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
        }
    }

    @Test func `a revocation lists whom the device let in, also through others`() async throws {
        try await LiveAgent.with { desk async throws in
            try await LiveAgent.with(named: "hall") { hall async throws in
                try await Self.join(desk, hall, as: .writer)
                let attic = try await hall.addAwayMember(named: "attic")
                try await desk.converge(with: hall)
                let answer = try await revoke("hall", on: desk)
                #expect(answer.alsoAdmitted.map(\.id) == [attic.device])
                #expect(answer.alsoAdmitted.map(\.state) == ["offline"])
                #expect(answer.waitingFor == [attic.device])
                #expect(try await revoke("attic", on: desk).alsoAdmitted.isEmpty)
                #expect(try await revoke("hall", on: desk).alsoAdmitted.isEmpty, "it is out by now")
            }
        }
    }

    @Test func `while a member follows another founder no role changes, until it is let go`() async throws {
        try await LiveAgent.with(named: "hall") { hall async throws in
            _ = try await hall.addAwayMember(named: "attic")
            try await LiveAgent.with { desk async throws in
                // Both have a mesh of their own: hall keeps its founder when it joins desk's.
                let phone = try await desk.addAwayMember(named: "phone")
                try await Self.join(desk, hall, as: .writer)
                let warning = try await desk.agent.status(space: nil).warnings.first { $0.code == "two_founders" }
                #expect(warning?.message.contains("hall") == true, "\(warning as Any)")
                let error = await Self.refusal { try await setRole(.reader, of: "phone", on: desk) }
                #expect(error?.code == .twoFounders && error?.code.httpStatus == 409, "\(error as Any)")
                #expect(error?.hint.contains("lanyard devices revoke ") == true)
                let other = await Self.refusal { try await revoke("phone", on: desk) }
                #expect(other?.code == .twoFounders)
                for name in ["hall", "attic"] { _ = try await revoke(name, on: desk) }
                #expect(try await setRole(.reader, of: phone.device, on: desk).role == .reader)
                #expect(try await desk.agent.status(space: nil).warnings.allSatisfy { $0.code != "two_founders" })
            }
        }
    }

    /// The key that a device made of daily tags, as another one holds it.
    static func tagKey(of author: LiveAgent, on live: LiveAgent) async throws -> DiscoveryKey? {
        let device = try #require(DeviceID(text: author.device))
        return try await live.agent.reading { () throws(StoreError) in
            try live.agent.store.discoveryKeys(of: [device], space: .home)[device]?.key
        } refused: { _ in
            StoreError.closed
        }
    }

    @Test func `after a revocation the others share a key of daily tags that the revoked device does not get`()
        async throws
    {
        try await Self.withMesh { desk, hall, attic async throws in
            #expect(try await Self.tagKey(of: desk, on: desk) == nil)
            try await desk.put("note/one", "{}")
            _ = try await revoke("hall", on: desk)
            try await attic.until { _ async throws in try await Self.tagKey(of: desk, on: attic) != nil }
            let first = try #require(await Self.tagKey(of: desk, on: desk))
            #expect(try await Self.tagKey(of: desk, on: attic) == first && first.earlier.isEmpty)
            #expect(try await Self.tagKey(of: desk, on: hall) == nil)
            // No object of a person's.
            #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
            // Another one for each revocation, not for each look.
            _ = try await revoke("attic", on: desk)
            try await desk.until { _ async throws in try await Self.tagKey(of: desk, on: desk) != first }
            let second = try #require(await Self.tagKey(of: desk, on: desk))
            #expect(second.earlier == [first.bytes] && second.exclusions != first.exclusions)
            #expect(try await Self.tagKey(of: desk, on: attic) == first)
        }
    }

    /// Returns the devices that announce with a key that a revoked device knows, after they heard of the revocation and take their key
    /// for a new one.
    private func recognised(planting faults: AgentFaults) async throws -> [String] {
        var recognised: [String] = []
        try await Self.withMesh(planting: faults) { desk, hall, attic async throws in
            let known = try #require(try await hall.agent.discoveryKeys()).recognised
            _ = try await revoke("hall", on: desk)
            for live in [desk, attic] {
                // What is announced changes in the turn of the agent's loop in which it learns of the revocation.
                try await live.until { agent async throws in
                    let hasHeard = try await Self.entry(hall, on: live).state == "revoked"
                    let keys = try await agent.discoveryKeys()
                    return hasHeard && keys?.isStale == false
                }
                let announced = try #require(try await live.agent.discoveryKeys()?.announced)
                let later = try await hall.agent.discoveryKeys()?.recognised ?? []
                if known.union(later).contains(announced) { recognised.append(live.device) }
            }
        }
        return recognised
    }

    @Test func `a revoked device recognises no tag of those that have another key`() async throws {
        #expect(try await recognised(planting: []).isEmpty)
    }

    @Test func `the same check finds the planted bug of a tag that stays`() async throws {
        #expect(try await recognised(planting: .forgetTag).count == 2)
    }

    @Test func `a device that could not undo what counts no more says so`() async throws {
        try await LiveAgent.with { desk async throws in
            var now = try await desk.agent.snapshot()
            #expect(desk.agent.warnings(now).allSatisfy { $0.code != "incomplete" })
            now.isIncomplete = true
            let warning = try #require(desk.agent.warnings(now).first { $0.code == "incomplete" })
            #expect(warning.message.contains("could not all be undone here"))
            #expect(warning.hint.contains("lanyard devices"))
        }
    }

    @Test(arguments: Road.allCases) func `the routes answer, and refuse what is not well-formed`(
        road: Road
    ) async throws {
        try await road.withAgent { request, desk async throws in
            let attic = try await desk.addAwayMember(named: "attic")
            let path = "/v1/spaces/home/devices/attic"
            let reader = try await request("PUT", "\(path)/role", body: #"{"role":"reader"}"#)
            #expect(try reader.value(DeviceEntry.self).role == .reader, "\(reader.text)")
            for (body, code) in [
                ("", "malformed_json"), ("{}", "invalid_argument"), (#"{"role":"king"}"#, "invalid_argument"),
                (#"{"role":"admin","wipe":true}"#, "unknown_key"),
                (#"{"role":"admin","recoveryKey":"x"}"#, "invalid_argument"),
            ] {
                let answer = try await request("PUT", "\(path)/role", body: body)
                #expect(answer.status == 400 && answer.code == code, "\(body): \(answer.text)")
            }
            for body in [#"{"wipe":1}"#, #"{"recoveryKey":7}"#] {
                #expect(try await request("POST", "\(path)/revocation", body: body).status == 400)
            }
            let revoked = try await request("POST", "\(path)/revocation", body: #"{"wipe":true}"#)
            let revocation = try revoked.value(Revocation.self)
            #expect(revocation.device == attic.device && revocation.heard == [desk.device], "\(revoked.text)")
            let log = try await request("GET", "/v1/spaces/home/devices/log")
            #expect(try log.value([TrustEntry].self).suffix(2).map(\.action) == ["roleGiven", "revoked"])
            let key = [("Idempotency-Key", "again")]
            for _ in 0..<2 {
                let back = try await request("PUT", "\(path)/role", headers: key, body: #"{"role":"writer"}"#)
                #expect(try back.value(DeviceEntry.self).state == "offline", "\(back.text)")
            }
            let other = try await request("PUT", "\(path)/role", headers: key, body: #"{"role":"reader"}"#)
            #expect(other.code == "idempotency_mismatch", "\(other.text)")
            #expect(
                try await request("PUT", "/v1/spaces/home/devices/none/role", body: #"{"role":"reader"}"#).status == 404
            )
            #expect(try await request("GET", "\(path)/role").status == 405)
        }
    }
}
