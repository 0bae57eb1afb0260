import ControlAPI
import ControlServer
import Foundation
import SyncAgent
import SyncModel
import SyncStore
import Testing

/// A device that is told to delete what it holds.
@Suite(.timeLimit(.minutes(20))) struct WipeTests {
    private static let record = WipeRecord(
        statement: Dot(
            replica: ReplicaID(
                device: DeviceID(bytes: [UInt8](repeating: 7, count: DeviceID.byteCount))!, incarnation: 1),
            counter: 5),
        authorName: "hall", milliseconds: 1_700_000_000_000)

    private func names(in directory: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: directory))
    }

    /// Fills a data directory: an object, a large blob, a file of a person.
    /// - Returns: the device's id.
    private func fill(_ directory: String) async throws -> String {
        try await LiveAgent.with(in: directory) { desk async throws in
            try await desk.put("note/a", #"{"title":"secret"}"#)
            try await desk.attach([UInt8](repeating: 1, count: 200_000), named: "f", to: "note/a")
            return desk.device
        }
    }

    /// Expects a home of its own under the device's old keys, and that `status` says why.
    private func expectWiped(_ directory: String, device: String) async throws {
        try await LiveAgent.with(in: directory) { desk async throws in
            #expect(desk.device == device, "the keys stay")
            let status = try await desk.agent.status(space: nil)
            #expect(status.spaces[0].objects == 0 && status.spaces[0].attachments == 0)
            let warning = try #require(status.warnings.first { $0.code == "wiped" })
            #expect(warning.message.contains("hall") && warning.hint.contains("lanyard invite"))
            #expect(try names(in: directory).isSuperset(of: ["identity.pem", "wiped.json"]))
            #expect(try !names(in: directory).contains("wiping.json"))
            #expect(((try? names(in: directory + "/blobs")) ?? []).isEmpty)
            #expect(desk.agent.wiped == Self.record)
            // The same statement comes again with the log of the space, once the device was admitted again.
            try await desk.agent.wipe(.home, Self.record)
            // It is used like a new one, and the warning goes once it knows others.
            try await desk.put("note/new", "{}")
            _ = try await desk.addAwayMember(named: "attic")
            #expect(try await !desk.agent.status(space: nil).warnings.contains { $0.code == "wiped" })
        }
    }

    @Test func `a running agent deletes all but its keys, ends, and begins anew in a home of its own`() async throws {
        let temporary = try TemporaryDirectory()
        let directory = temporary.path + "/data"
        let device = try await fill(directory)
        try Data("a backup".utf8).write(to: URL(fileURLWithPath: directory + "/mine.lanyard"))
        try Data("x = 1".utf8).write(to: URL(fileURLWithPath: directory + "/lanyardd.toml"))
        try await LiveAgent.with(in: directory) { desk async throws in
            #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
            #expect(desk.agent.wiped == nil)
            try await desk.agent.wipe(.home, Self.record)
            var ends = 0
            for await _ in desk.agent.wipes { ends += 1 }
            #expect(ends == 1)
            // Asked for again it does nothing.
            try await desk.agent.wipe(.home, Self.record)
            let refused = await #expect(throws: ControlError.self) {
                try await desk.agent.object(space: "home", try ObjectName(parsing: "note/a"))
            }
            #expect(refused?.code == .stopping)
            let left = try names(in: directory)
            #expect(left.isSubset(of: ["identity.pem", "agent.lock", "agent.log", "wiped.json", "lanyardd.toml"]))
            #expect(left.isSuperset(of: ["identity.pem", "wiped.json", "lanyardd.toml"]))
        }
        try await expectWiped(directory, device: device)
    }

    @Test(arguments: [[], ["lanyard.sqlite"], ["lanyard.sqlite", "lanyard.sqlite-wal", "blobs"]])
    func `a wipe that was cut short is finished at the next start, before anything is opened`(
        gone: [String]
    ) async throws {
        let temporary = try TemporaryDirectory()
        let directory = temporary.path + "/data"
        let device = try await fill(directory)
        let wipe = StoreWipe(in: directory)
        #expect(!wipe.isBegun)
        try wipe.begin([UInt8](try JSONEncoder().encode(Self.record)))
        #expect(wipe.isBegun)
        for name in gone { try? FileManager.default.removeItem(atPath: directory + "/" + name) }
        try await expectWiped(directory, device: device)
    }

    @Test func `a second agent does not finish the wipe of one that runs`() async throws {
        let temporary = try TemporaryDirectory()
        let directory = temporary.path + "/data"
        _ = try await fill(directory)
        try await LiveAgent.with(in: directory) { desk async throws in
            let wipe = StoreWipe(in: directory)
            try wipe.begin(Array("{}".utf8))
            #expect(throws: StoreError.locked(processID: getpid())) {
                try wipe.finish(leasesOf: desk.agent.device, in: [])
            }
            #expect(try names(in: directory).isSuperset(of: ["lanyard.sqlite", "blobs", "wiping.json"]))
            #expect(try await desk.agent.status(space: nil).spaces[0].objects == 1)
        }
    }
}
