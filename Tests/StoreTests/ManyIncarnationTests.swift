import Foundation
import SyncModel
import SyncStore
import Testing

/// What a device leaves behind that was killed, restored or copied a thousand times: as many closed incarnations.
@Suite struct ManyIncarnationTests {
    private static let count = 1_000

    private func fileBytes(_ bed: StoreBed) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: bed.directory).filter { $0.hasPrefix("lanyard.sqlite") }
            .reduce(0) { sum, name in
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(bed.directory)/\(name)")
                return sum + (attributes[.size] as? Int ?? 0)
            }
    }

    /// One event each, under one incarnation or under as many as there are events.
    private func write(_ bed: StoreBed, closing: Bool) throws -> SQLiteStore {
        let store = try bed.open()
        for number in 0..<Self.count {
            if closing { try store.closeIncarnation() }
            _ = try store.append([[.event("s", "\(number)")]], wallMilliseconds: 1)
        }
        return store
    }

    @Test func `what a thousand closed incarnations cost: a change after them as much as before`() throws {
        let (one, many) = (StoreBed(.sqliteInTmpfs), StoreBed(.sqliteInTmpfs))
        try write(one, closing: false).close()
        try write(many, closing: true).close()
        let (plain, closed) = (try fileBytes(one), try fileBytes(many))
        print("    \(Self.count) events: \(plain) bytes under one incarnation, \(closed) bytes under one each")
        #expect((closed - plain) / Self.count < 400, "more than a few hundred bytes each")
        let store = try many.open()
        let state = try store.state()
        #expect(state.tips.count == Self.count && state.counts.events == Self.count)
        // What is written next names none of them: a context says what its author's changes before did not say.
        let commit = try store.append([[.event("s", "\"next\"")]], wallMilliseconds: 1)
        let bytes = try #require(commit.segments.first).segment.bytes.count
        let usual = try #require(
            try one.open().append([[.event("s", "\"next\"")]], wallMilliseconds: 1).segments.first
        ).segment.bytes.count
        print("    the next change takes \(bytes) bytes, and \(usual) where there is one incarnation")
        store.close()
        let clock = ContinuousClock()
        let duration = try clock.measure { try many.open().close() }
        print("    opening the store takes \(duration)")
        #expect(duration < .seconds(20))
    }
}
