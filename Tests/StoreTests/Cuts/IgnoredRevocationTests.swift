import SyncModel
import SyncStore
import Testing

/// A member that turned bad revokes the others: nothing changes, on no node, and the author is named.
@Suite struct IgnoredRevocationTests {
    private func revocation(of device: TestDevice) -> [SyncModel.Operation] {
        [.cut(CutFact(device: device.id, isStrict: true, ends: []))]
    }

    /// What a column of a store that an older program wrote holds of it.
    private func column(_ replica: ReplicaID, _ counter: UInt64, _ operation: SyncModel.Operation) -> [UInt8] {
        guard case .cut(let fact) = operation else { return [] }
        var bytes: [UInt8] = [1] + replica.bytes
        bytes.append(varint: counter)
        bytes.append(lengthPrefixed: fact.canonicalBytes)
        return bytes + [0, 0, 0, 0, 0]
    }

    @Test(arguments: StoreKind.allCases)
    func `one change that revokes everybody takes nothing away, and its author is reported`(kind: StoreKind) throws {
        let beds = (0..<3).map { StoreBed($0 == 0 ? kind : .memory, device: TestDevice(UInt8($0 + 1))) }
        let stores = try introduced(beds)
        try stores[0].write(.putting("note/1", #"{"title":"mine"}"#))
        try converge(stores)
        let digest = try stores[0].state().digest
        let everybody = (1...2).flatMap { revocation(of: TestDevice($0)) }
        let own = try stores[2].append([.operations(everybody)], wallMilliseconds: 1)
        #expect(own.commit.cuts == nil)
        let commit = try stores[0].apply(try stores[0].missing(from: stores[2]), wallMilliseconds: 1)
        #expect(
            commit.ignoredRevocations == [IgnoredRevocation(author: TestDevice(3).id, device: TestDevice(1).id)])
        try stores[1].pull(from: stores[0])
        for store in stores {
            #expect(try store.state().digest == digest)
            #expect(try store.state().cuts.isEmpty)
            #expect(try store.object("note/1")?.summary.standing == .live)
        }
        // What is written afterwards counts, and a restart finds the same.
        try stores[0].write(.putting("note/1", #"{"title":"still mine"}"#))
        let after = try stores[0].state().digest
        stores[0].close()
        let again = try beds[0].open()
        #expect(try again.state().digest == after && again.recomputedDigest(of: .home) == after)
        try stores[2].pull(from: again)
        #expect(try stores[2].state().digest == after)
    }

    @Test func `a store in which an older program gave it effect is derived from its log again`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let stores = try introduced([bed] + (2...3).map { StoreBed(.memory, device: TestDevice(UInt8($0))) })
        try stores[0].write(.putting("note/1", #"{"title":"mine"}"#))
        try converge(stores)
        let operations = revocation(of: TestDevice(1))
        let written = try stores[2].append([.operations(operations)], wallMilliseconds: 1)
        try stores[0].pull(from: stores[2])
        let digest = try stores[0].state().digest
        let segment = try #require(written.commit.segments.first?.segment)
        stores[0].close()
        // As that program left it: the cut in its table, the object gone.
        let bytes = column(segment.replica, segment.start, operations[0])
        let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let step = "UPDATE space SET cuts = x'\(hex)', digest = zeroblob(32), objects = 0; DELETE FROM field_value;"
        let again = try bed.open(schema: Schema(steps: Schema.current.steps + [step]))
        #expect(try again.state().digest == digest && again.recomputedDigest(of: .home) == digest)
        #expect(try again.state().cuts.isEmpty && again.object("note/1")?.summary.standing == .live)
    }
}
