import Foundation
import SyncModel
import SyncStore
import Testing

/// What a sender says of an object may be well-formed, and come to nothing that can be read with what is held.
@Suite("State deltas: broken objects")
struct BrokenObjectTests {
    private let machines = Machines()
    private let key = ObjectKey("a/1")

    /// As a fuzzer made them: each is taken by itself, and one of them leaves out what a list hangs from.
    private func deltas() throws -> [StateObject] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Fuzz/Corpus/Delta/list-that-hangs-from-nothing")
        var cutter = StateItemCutter()
        return try cutter.take(Array(Data(contentsOf: file))).compactMap { bytes in
            var reader = ByteReader(bytes)
            guard case .object(let object)? = try? StateItem(reading: &reader) else { return nil }
            return object
        }
    }

    /// A stream of that object alone, closed as a sender does.
    private func stream(_ object: StateObject, leadingTo vector: VersionVector) -> [[UInt8]] {
        var stream = StateStream()
        var items: [StateItem] = [
            .announcement(StateAnnouncement(key: key, touched: object.delta.lives.touched)), .object(object),
        ]
        for entry in vector.entries {
            let births = object.delta.lives.lives.map(\.birth).filter { $0.replica == entry.replica }.map(\.counter)
            if let first = births.min(), let last = births.max() {
                items.append(.births(StateBirths(replica: entry.replica, runs: [first..<last + 1])))
            }
        }
        for entry in vector.entries {
            let tip = ReplicaTip(
                next: entry.next, head: ChainHead(space: .home, replica: entry.replica),
                stamp: object.delta.lives.greatestStamp)
            items.append(
                .tip(
                    StateTip(
                        replica: entry.replica, tip: tip, signature: Array(repeating: 0, count: 64),
                        first: VersionVector(), named: VersionVector())))
        }
        return items.map { stream.write($0) } + [stream.write(stream.end(vector: vector))]
    }

    private func isRefused(_ receiver: SQLiteStore) -> Bool {
        do { _ = try receiver.joinStaged(wallMilliseconds: 1) } catch {
            #expect(error == .refused(.brokenObject))
            return true
        }
        return false
    }

    @Test func `what comes to no object that can be read is refused, and the store is as before`() throws {
        let receiver = try machines.open(2)
        var vector = VersionVector()
        var refused = 0
        for object in try deltas() {
            let before = try receiver.state()
            var theirs = vector
            theirs.join(object.delta.lives.touched)
            for birth in object.delta.lives.lives.map(\.birth) { theirs.advance(birth.replica, to: birth.counter + 1) }
            var staging = try receiver.beginStaging()
            try receiver.stage(stream(object, leadingTo: theirs), of: &staging)
            if isRefused(receiver) {
                refused += 1
                #expect(try receiver.state() == before)
                try receiver.discardStaging()
            } else {
                vector = theirs
            }
            #expect(try receiver.recomputedDigest(of: .home) == receiver.state().digest)
        }
        #expect(refused > 0)
    }
}
