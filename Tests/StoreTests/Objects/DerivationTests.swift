import SyncModel
import SyncStore
import Testing

/// A store whose log was written by a program that kept operations on objects and did not understand them.
@Suite("Derivation of objects from the log")
struct DerivationTests {
    /// What the first release left: the log, and nothing that follows from it.
    private static let forgetting = """
        DELETE FROM attachment; DELETE FROM blob_reference;
        DELETE FROM object; DELETE FROM collection; DELETE FROM touch; DELETE FROM field_value;
        UPDATE addition SET replica = NULL, counter = NULL;
        UPDATE replica SET named = NULL WHERE id NOT IN (SELECT own_replica FROM space);
        UPDATE space SET derived = NULL, objects = 0, deleted_objects = 0, attachments = 0, object_position = 0;
        """
    /// What a program that understood less leaves to one that understands more.
    private static let outdating = "UPDATE space SET derived = 0;"

    private func history() throws -> [SQLiteStore] {
        let beds = [StoreBed(.sqliteInTmpfs)] + (2...3).map { StoreBed(.memory, device: TestDevice(UInt8($0))) }
        let stores = try introduced(beds)
        try stores[0].write(
            .schema("c", #"{"fields":{"n":"counter","b":"text"},"indexed":["t","n"],"deletePolicy":"ask"}"#),
            .schema("d", #"{"indexed":["t"]}"#))
        try converge(stores)
        var random = SeededGenerator(seed: 5)
        for round in 0..<60 {
            let store = stores[Int.random(in: 0..<3, using: &random)]
            let name = ["c/a", "c/b", "d/a", "d/b"][Int.random(in: 0..<4, using: &random)]
            _ = try store.append(
                [
                    .planned([.putting(name, #"{"t":"\#(round % 5)","l":[\#(round)]}"#)]),
                    .planned([.editing("c/a", "n", .increment(1))]),
                    .planned([.attaching(["x", "y", "zz"][round % 3], to: name)]),
                    .planned(
                        try store.attachments().last.map { [.detach($0.owner, attachment: $0.attachment.id)] } ?? []),
                    .planned(round % 7 == 0 ? [.deleting(name)] : [.resolving(name, .keep)]),
                    .operations([.event("s")]),
                ], wallMilliseconds: Int64(1_000 + round))
            if round % 3 == 0 { try store.pull(from: stores[Int.random(in: 0..<3, using: &random)]) }
        }
        try converge(stores)
        return stores
    }

    private func expectSame(_ derived: SQLiteStore, as twin: SQLiteStore) throws {
        #expect(try derived.state().digest == twin.state().digest)
        #expect(try derived.state().counts == twin.state().counts)
        #expect(try derived.recomputedDigest(of: .home) == twin.state().digest)
        #expect(try derived.members() == twin.members())
        #expect(try derived.attachments() == twin.attachments())
        try derived.expectTrueReferences()
        #expect(try derived.collections(of: .home) == twin.collections(of: .home))
        for name in ["c/a", "c/b", "d/a", "d/b"] {
            #expect(try derived.object(name)?.state == twin.object(name)?.state, "\(name)")
            #expect(try derived.object(name)?.version == twin.object(name)?.version, "\(name)")
            #expect(try derived.object(name)?.summary.standing == twin.object(name)?.summary.standing, "\(name)")
            let touches = try twin.touches(of: ObjectKey(name), space: .home)
            #expect(try derived.touches(of: ObjectKey(name), space: .home) == touches, "\(name)")
        }
        for value in 0..<5 {
            for collection in ["c", "d"] {
                let wanted = JSONValue.text("\(value)")
                #expect(
                    try derived.find(collection, where: "t", is: wanted)
                        == twin.find(collection, where: "t", is: wanted))
            }
        }
    }

    @Test(arguments: [DerivationTests.forgetting, DerivationTests.outdating])
    func `what follows from the log is derived from the log`(step: String) throws {
        let peer = try history()[0]
        let bed = StoreBed(.sqliteInTmpfs, device: TestDevice(9))
        let old = try bed.open()
        for segment in try old.missing(from: peer) { _ = try old.apply([segment], wallMilliseconds: 0) }
        try old.write(.putting("e/own", #"{"x":1}"#))
        let twin = try StoreBed(.memory, device: TestDevice(8)).open()
        try twin.pull(from: old)
        let tips = try old.state().tips
        old.close()
        let derived = try bed.open(schema: Schema(steps: Schema.current.steps + [step]))
        #expect(try derived.state().tips == tips)
        try expectSame(derived, as: twin)
        // It goes on from there, under the same incarnation, with what its contexts named before.
        let outcome = try derived.write(
            .putting("e/own", #"{"x":2}"#), .editing("c/new", "n", .increment(1), creating: true))
        #expect(outcome.dots?.lowerBound.counter == 2)
        let own = try #require(try derived.state().ownReplica)
        let last = try #require(try derived.verifiedSegments(of: own).last)
        #expect(last.tip == (try derived.state().tips.first { $0.replica == own }?.tip))
        try twin.pull(from: derived)
        try expectSame(derived, as: twin)
    }

    @Test func `what belongs to this node stays, and a watcher misses nothing`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let store = try bed.open()
        try store.write(.schema("c", #"{"fields":{"d":"local"}}"#))
        for id in 0..<3 { try store.write(.putting("c/\(id)", #"{"x":1,"d":"draft \#(id)"}"#)) }
        for round in 0..<5 { try store.write(.editing("c/0", "d", .set(.integer(Int64(round))))) }
        let seen = try store.objectPosition()
        store.close()
        let derived = try bed.open(schema: Schema(steps: Schema.current.steps + [Self.outdating]))
        #expect(try derived.object("c/0")?.localFields == JSONValue(json: #"{"d":4}"#).members)
        #expect(try derived.object("c/2")?.localFields == JSONValue(json: #"{"d":"draft 2"}"#).members)
        #expect(try derived.objectPosition() >= seen, "positions never move back")
        try derived.write(.putting("c/1", #"{"x":2}"#))
        let changed = try derived.changedObjects(of: nil, space: .home, after: seen, limit: 100)
        #expect(changed.map { "\($0.key)" }.contains("c/1"))
    }
}
