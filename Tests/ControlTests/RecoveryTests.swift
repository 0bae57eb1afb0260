import ControlAPI
import ControlServer
import LanyardClient
import SyncAgent
import SyncModel
import SyncStore
import Testing
import lanyard

/// The recovery key, and the commands for roles.
@Suite(.timeLimit(.minutes(20))) struct RecoveryTests {
    private func refusal<Value>(_ body: () async throws -> Value) async -> ControlError? {
        await RoleChangeTests.refusal(body)
    }

    /// Makes the recovery key of the space that this device founded.
    private func makeKey(_ founder: LiveAgent) async throws -> String {
        let key = try await founder.agent.newRecoveryKey(space: "home").key
        _ = try await founder.agent.setRecoveryKey(space: "home", RecoveryKeyRequest(recoveryKey: key))
        return key
    }

    @Test func `a key counts once it is set, by the founder, and for good`() async throws {
        try await RoleChangeTests.withMesh(.admin) { desk, hall, _ async throws in
            let none = await refusal {
                try await desk.agent.revoke(
                    space: "home", device: "hall", RevocationRequest(recoveryKey: RecoveryKey().text))
            }
            #expect(none?.code == .forbidden && none?.message == "This space has no recovery key.")
            let key = try await desk.agent.newRecoveryKey(space: "home").key
            let before = try await desk.agent.recovery(space: "home")
            #expect(before == RecoveryState(exists: false, createdAt: nil, founder: desk.device))
            #expect(try await desk.agent.status(space: nil).warnings.map(\.code).contains("no_recovery_key"))
            for live in [hall] {
                let error = await refusal { try await live.agent.newRecoveryKey(space: "home") }
                #expect(error?.code == .forbidden && error?.message.hasSuffix("makes its recovery key: desk.") == true)
                let set = await refusal {
                    try await live.agent.setRecoveryKey(space: "home", RecoveryKeyRequest(recoveryKey: key))
                }
                #expect(set?.code == .forbidden)
            }
            let made = try await desk.agent.setRecoveryKey(space: "home", RecoveryKeyRequest(recoveryKey: key))
            #expect(made.exists && made.createdAt != nil && made.founder == desk.device)
            let again = try await desk.agent.setRecoveryKey(space: "home", RecoveryKeyRequest(recoveryKey: key))
            #expect(again == made)
            for error in [
                await refusal { try await desk.agent.newRecoveryKey(space: "home") },
                await refusal {
                    try await desk.agent.setRecoveryKey(
                        space: "home", RecoveryKeyRequest(recoveryKey: RecoveryKey().text))
                },
            ] {
                #expect(error?.code == .alreadyExists, "\(error as Any)")
                #expect(error?.message.hasPrefix("This space has a recovery key since ") == true, "\(error as Any)")
            }
            #expect(try await !desk.agent.status(space: nil).warnings.map(\.code).contains("no_recovery_key"))
            try await hall.until { agent async throws in try await agent.recovery(space: "home").exists }
            #expect(try await hall.agent.recovery(space: "home").createdAt == made.createdAt)
        }
    }

    @Test func `what the key said elsewhere is said once more where its history is not held`() async throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        let key = try await LiveAgent.with(in: data) { desk async throws in
            let text = try await makeKey(desk)
            let attic = try await desk.addAwayMember(named: "attic").agent.device
            // As a device tells it that is gone for good afterwards.
            let dot = Dot(replica: ReplicaID(device: attic, incarnation: 77), counter: 0)
            let statement = TrustStatement(
                .revocation(attic, ends: [], wipes: false), by: try RecoveryKey(text: text), knows: VersionVector(),
                at: dot, in: .home)
            try await desk.agent.update { store throws(StoreError) in
                _ = try store.takeStatements([PlacedStatement(dot: dot, statement: statement)], wallMilliseconds: 5)
            }
            return text
        }
        try await LiveAgent.with(in: data) { desk async throws in
            let before = try await desk.agent.status(space: nil).spaces[0].changes
            #expect(try await desk.agent.devices(space: "home").map(\.state).sorted() == ["revoked", "this"])
            for _ in 0..<2 {
                _ = try await desk.agent.revoke(space: "home", device: "attic", RevocationRequest(recoveryKey: key))
                // The statement, and then the key of daily tags.
                try await desk.until { _ async throws in
                    try await RoleChangeTests.tagKey(of: desk, on: desk) != nil
                }
                #expect(try await desk.agent.status(space: nil).spaces[0].changes == before + 2)
            }
        }
    }

    @Test func `another key and a mistyped one are refused, and no part of them is shown`() async throws {
        try await RoleChangeTests.withMesh { desk, hall, _ async throws in
            let key = try await makeKey(desk)
            try await hall.until { agent async throws in try await agent.recovery(space: "home").exists }
            let other = RecoveryKey().text
            func use(_ key: String) async -> ControlError? {
                await refusal {
                    try await hall.agent.setRole(
                        space: "home", device: "hall", RoleRequest(role: .admin, recoveryKey: key))
                }
            }
            #expect(await use(other)?.code == .forbidden)
            for (text, part) in [
                (String(key.dropLast()), "55 characters"), (key.dropLast() + "1", "in group 7 or 8"),
                ("lanyard2xyz", "one begins with lanyard-key1-"), ("", "one begins with lanyard-key1-"),
            ] {
                let error = await use(text)
                #expect(error?.code == .invalidArgument && error?.message.contains(part) == true, "\(error as Any)")
                let shown = "\(error as Any)"
                #expect(!key.split(separator: "-").dropFirst(2).contains { shown.contains($0) }, "\(shown)")
            }
            #expect(try await RoleChangeTests.entry(hall, on: hall).role == .writer, "nothing was done")
        }
    }

    @Test func `the key puts right what a thief said, on a device that the thief revoked`() async throws {
        try await RoleChangeTests.withMesh(.admin) { desk, hall, attic async throws in
            let key = try await makeKey(desk)
            for live in [hall, attic] {
                try await live.until { agent async throws in try await agent.recovery(space: "home").exists }
            }
            // The thief has hall. It has a link to desk only, which passes the first word on before it is out itself.
            for device in [attic, desk] {
                _ = try await hall.agent.revoke(
                    space: "home", device: device.device, RevocationRequest(recoveryKey: nil))
                try await device.until { agent async throws in
                    try await agent.status(space: nil).warnings.contains { $0.code == "revoked" }
                }
            }
            let word = RevocationRequest(recoveryKey: key)
            #expect(try await desk.agent.revoke(space: "home", device: hall.device, word).device == hall.device)
            for (device, role) in [(desk, Role.admin), (attic, .writer)] {
                let back = try await desk.agent.setRole(
                    space: "home", device: device.device, RoleRequest(role: role, recoveryKey: key))
                #expect(back.role == role && back.state != "revoked", "\(back)")
            }
            try await desk.put("note/mine", "{}")
            try await desk.converge(with: attic)
            for live in [desk, attic] {
                #expect(try await RoleChangeTests.entry(hall, on: live).state == "revoked")
                #expect(try await RoleChangeTests.entry(desk, on: live).role == .admin)
                #expect(try await live.agent.status(space: nil).spaces[0].role != nil)
            }
            let log = try await desk.agent.trust(space: "home", after: nil, limit: 100).entries
            let recovery = log.filter { $0.byRecoveryKey == true }
            #expect(recovery.map(\.action) == ["revoked", "readmitted", "readmitted"])
            #expect(recovery.allSatisfy { $0.inEffect }, "\(recovery)")
            #expect(log.filter { $0.author == hall.device && $0.action == "revoked" }.allSatisfy { !$0.inEffect })
        }
    }

    // MARK: Commands

    @Test func `the commands change, revoke and bring back, after a question`() async throws {
        try await LiveServer.with { server async throws in
            let attic = try await server.live.addAwayMember(named: "attic")
            let name = "attic (\(attic.shortID))"
            func lanyard(_ words: [String], input: String = "") async throws -> CommandRun {
                try await CommandRun.lanyard(words, socket: server.socketPath, input: input)
            }
            // A person is shown which device the name means; what a script says is done.
            let no = try await CommandRun.lanyardAtTerminal(
                ["devices", "role", "attic", "admin"], socket: server.socketPath, typed: "n\n")
            #expect(no.exitCode == 4 && no.errors.contains("Make \(name) an admin? [y/N]"), "\(no.errors)")
            #expect(no.errors.contains("There is no recovery key yet"), "said before the question: \(no.errors)")
            #expect(try await RoleChangeTests.entry(attic, on: server.live).role == .writer)
            let admin = try await lanyard(["devices", "role", "attic", "admin"])
            #expect(admin.exitCode == 0 && admin.output == "\(name) is an admin now.\n", "\(admin)")
            #expect(admin.errors.contains("lanyard recovery create"), "\(admin.errors)")
            #expect(try await lanyard(["devices", "role", "attic", "king"]).exitCode == 2)
            #expect(try await lanyard(["devices", "role", "cellar", "reader"]).exitCode == 3)
            #expect(try await lanyard(["devices", "role", "desk", "reader"]).exitCode == 0)
            let late = try await lanyard(["devices", "revoke", "attic", "--yes", "--json"])
            #expect(late.exitCode == 4 && late.errors.contains(#""code":"forbidden""#), "\(late)")
        }
        try await LiveServer.with { server async throws in
            let attic = try await server.live.addAwayMember(named: "attic")
            let name = "attic (\(attic.shortID))"
            func lanyard(_ words: String..., input: String = "") async throws -> CommandRun {
                try await CommandRun.lanyard(words, socket: server.socketPath, input: input)
            }
            #expect(try await lanyard("devices", "role", "attic", "reader").output == "\(name) is a reader now.\n")
            #expect(try await lanyard("devices", "role", "attic", "reader").output == "\(name) is a reader already.\n")
            #expect(try await lanyard("devices", "revoke", "desk", "--yes").exitCode == 4)
            let asked = try await lanyard("devices", "revoke", "attic", input: "y\n")
            #expect(asked.exitCode == 2 && asked.errors.contains("--yes"), "\(asked)")
            let no = try await CommandRun.lanyardAtTerminal(
                ["devices", "revoke", "attic"], socket: server.socketPath, typed: "n\n")
            #expect(no.exitCode == 4 && no.errors.contains("Revoke \(name)? [y/N]"), "\(no.errors)")
            let revoked = try await lanyard("devices", "revoke", "attic", "--yes")
            #expect(
                revoked.exitCode == 0 && revoked.lines.first?.hasPrefix("\(name) is revoked:") == true, "\(revoked)")
            #expect(revoked.output.contains("What it already holds cannot be taken back from it."))
            #expect(revoked.output.contains("lanyard devices review \(attic.shortID)"))
            let json = try await lanyard("devices", "revoke", "attic", "--yes", "--json").json() as? [String: Any]
            #expect(json?.keys.sorted() == ["alsoAdmitted", "device", "heard", "name", "waitingFor"])
            #expect(json?["heard"] as? [String] == [server.live.device])
            let listed = try await lanyard("devices", "--format", "name,state,heard", "--no-headers")
            #expect(listed.lines.contains { $0.split { $0 == " " } == ["attic", "revoked", "1", "of", "1"] })
            #expect(try await lanyard("devices", "role", "attic", "writer").exitCode == 2)
            let back = try await lanyard("devices", "role", "attic", "writer", "--yes")
            #expect(back.output.hasPrefix("\(name) is in again, as a writer."), "\(back)")
            let deeds = try await lanyard("devices", "log", "--format", "did", "--no-headers").lines
            #expect(deeds.suffix(3) == ["changed the role", "revoked", "admitted again"], "\(deeds)")
        }
    }

    @Test func `a name that a second device takes revokes and retires neither, and both ids are told`() async throws {
        let place = try TemporaryDirectory()
        let data = place.path + "/data"
        try await LiveServer.with { server async throws in
            let (desk, attic) = (server.live, try await server.live.addAwayMember(named: "attic"))
            try await LiveAgent.with(named: "hall", in: data) { hall async throws in try await desk.pair(with: hall) }
            // It starts again under the name of the other one.
            try await LiveAgent.with(named: "attic", in: data) { hall async throws in
                _ = try await hall.agent.addAddress(host: "127.0.0.1", port: desk.agent.listenPort)
                try await desk.until { agent async throws in
                    try await agent.devices(space: "home").count { $0.name == "attic" } == 2
                }
                let before = try await desk.agent.trust(space: "home", after: nil, limit: 100).entries.count
                for words in [
                    ["revoke", "attic", "--yes"], ["role", "attic", "reader"], ["retire", "attic", "--yes"],
                ] {
                    let refused = try await CommandRun.lanyard(
                        ["devices"] + words + ["--json"], socket: server.socketPath)
                    #expect(refused.exitCode == 2 && refused.output.isEmpty, "\(refused)")
                    #expect(refused.errors.contains(#""code":"ambiguous_device""#), "\(refused.errors)")
                    for id in [attic.shortID, hall.shortID] { #expect(refused.errors.contains(id), "\(refused)") }
                }
                let asked = await RoleChangeTests.refusal {
                    try await desk.agent.revoke(space: "home", device: "attic", RevocationRequest(wipe: true))
                }
                #expect(asked?.code == .ambiguousDevice, "\(asked as Any)")
                let retired = await RoleChangeTests.refusal {
                    try await desk.agent.retire(space: "home", device: "attic")
                }
                #expect(retired?.code == .ambiguousDevice, "\(retired as Any)")
                #expect(try await desk.agent.trust(space: "home", after: nil, limit: 100).entries.count == before)
                let states = try await desk.agent.devices(space: "home").map(\.state)
                #expect(!states.contains("revoked") && !states.contains("retired"), "\(states)")
                let revoked = try await CommandRun.lanyard(
                    ["devices", "revoke", hall.shortID, "--yes"], socket: server.socketPath)
                #expect(revoked.output.hasPrefix("attic (\(hall.shortID)) is revoked:"), "\(revoked)")
                #expect(try await RoleChangeTests.entry(attic, on: desk).state != "revoked")
            }
        }
    }

    @Test func `the key is made and used by commands, and is no word of one`() async throws {
        try await LiveServer.with { server async throws in
            let attic = try await server.live.addAwayMember(named: "attic")
            func lanyard(_ words: String..., input: String = "") async throws -> CommandRun {
                try await CommandRun.lanyard(words, socket: server.socketPath, input: input)
            }
            #expect(try await lanyard("recovery").output.contains("lanyard recovery create"))
            let created = try await lanyard("recovery", "create", "--json")
            let key = try JSONDecoding.value(
                IssuedRecoveryKey.self, from: Array(created.output.utf8), unknownKeys: .refuse
            ).key
            let state = try await lanyard("recovery", "--json").json() as? [String: Any]
            #expect(state?["exists"] as? Bool == true)
            #expect(state?.keys.sorted() == ["createdAt", "exists", "founder"])
            let second = try await lanyard("recovery", "create")
            #expect(second.exitCode == 4 && second.output.isEmpty && second.errors.contains("has a recovery key"))
            let word = try await lanyard("recovery", "use", "revoke", "attic", key, "--yes")
            #expect(word.exitCode == 2 && !word.errors.contains(key.suffix(20)), "\(word)")
            let other = RecoveryKey().text
            #expect(try await lanyard("recovery", "use", "revoke", "attic", "--yes", input: other).exitCode == 4)
            #expect(try await lanyard("recovery", "use", "revoke", "attic", "--yes", input: "").exitCode == 2)
            #expect(try await lanyard("recovery", "use", "revoke", "attic", input: key).exitCode == 2, "no --yes")
            let used = try await lanyard(
                "--json", "recovery", "use", "revoke", "attic", "-", "--yes", input: key + "\n")
            #expect(used.exitCode == 0 && used.output.contains(attic.device), "\(used)")
            let typed = try await CommandRun.lanyardAtTerminal(
                ["recovery", "use", "role", "attic", "admin"], socket: server.socketPath,
                typed: "y\nlanyard-key1-A\n\(key)\n")
            #expect(typed.exitCode == 0 && typed.output.contains("is in again, as an admin"), "\(typed)")
            #expect(typed.errors.contains("This recovery key is not whole"), "it was asked for again")
            let deeds = try await lanyard("devices", "log", "--format", "did,role", "--no-headers").lines
            #expect(deeds.contains { $0.hasPrefix("made the recovery key") })
            #expect(deeds.contains { $0.hasPrefix("revoked, by the recovery key") }, "\(deeds)")
            #expect(deeds.contains { $0.hasPrefix("admitted again, by the recovery key") && $0.hasSuffix("admin") })
        }
    }

    @Test func `receipts say who has heard, and how the others are`() {
        func entry(_ name: String, _ state: String, seen: Int64?) -> DeviceEntry {
            DeviceEntry(
                id: "\(name)-id", name: name, role: .writer, addedBy: nil, addedAt: nil,
                lastSeen: seen.map(Timestamp.init(millisecondsSinceEpoch:)), state: state)
        }
        let now: Int64 = 1_800_000_000_000
        let devices = [
            entry("desk", "this", seen: nil), entry("lap\u{1B}top", "offline", seen: now - 3 * 86_400_000),
            entry("hall", "connected", seen: now), entry("attic", "offline", seen: nil),
        ]
        func receipts(_ heard: [String], _ waitingFor: [String]) -> String {
            RevocationText(
                revocation: Revocation(device: "x", name: "phone", heard: heard, waitingFor: waitingFor),
                devices: devices, wipes: false, now: TimeText(now: Timestamp(millisecondsSinceEpoch: now))
            ).receipts
        }
        #expect(receipts(["desk-id"], []) == "No other device has to hear of it.")
        #expect(receipts(["desk-id", "hall-id"], []) == "All 2 devices have heard of it.")
        #expect(
            receipts(["desk-id"], ["hall-id", "lap\u{1B}top-id", "attic-id", "unknown-device"])
                == "1 of 5 devices has heard of it. Not yet: hall, connected; lap\u{FFFD}top, last seen 3 d 0 h ago; "
                + "attic, never met; unknown, never met.")
        let guest = DeviceEntry(
            id: "GUESTID-234567A", name: "ta\u{1B}blet", role: .writer, addedBy: nil, addedAt: nil, lastSeen: nil,
            state: "offline")
        let text = RevocationText(
            revocation: Revocation(
                device: "PHONEID-234567A", name: "phone", heard: ["desk-id"], waitingFor: [], alsoAdmitted: [guest]),
            devices: devices, wipes: true, now: TimeText(now: Timestamp(millisecondsSinceEpoch: now))
        ).text
        #expect(text.contains("It let in these devices, which stay. If you do not know one, revoke it, too:\n"))
        #expect(text.contains("\n  ta\u{FFFD}blet (GUESTID):  lanyard devices revoke GUESTID\n"))
        #expect(text.contains("It is told to delete what it holds when it meets a device that knows"))
        #expect(DeviceWord.typed("kitchen", shortID: "ABC") == "kitchen")
        for name in ["", "-x", "a b", "a;b", "é", String(repeating: "A", count: 63)] {
            #expect(DeviceWord.typed(name, shortID: "ABC") == "ABC")
        }
    }

    @Test func `a device that calls itself like the beginning of another's id is not taken for it`() throws {
        func entry(_ id: String, _ name: String) -> DeviceEntry {
            DeviceEntry(
                id: id, name: name, role: .writer, addedBy: nil, addedAt: nil, lastSeen: nil, state: "connected")
        }
        let (hall, thief) = (entry("ABCDEFG-234567A-BCDEFGH", "hall"), entry("QRSTUVW-234567A-BCDEFGH", "ABCDEFG"))
        func found(_ word: String) throws(ControlError) -> String {
            try DeviceWord.find(word, in: [thief, hall]).id
        }
        #expect(try found("hall") == hall.id)
        #expect(try found("ABCDEFG-2") == hall.id)
        #expect(try found(hall.id) == hall.id)
        #expect(try found("qrst") == thief.id)
        for word in ["abcdefg", "ABCD"] { #expect(try found(word) == hall.id) }
        #expect {
            try found("ABCDEFG")
        } throws: { error in
            let refused = error as? ControlError
            return refused?.code == .ambiguousDevice && refused?.hint.contains(hall.id) == true
        }
    }
}
