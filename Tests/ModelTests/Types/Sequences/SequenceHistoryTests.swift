import SyncModel
import Testing

/// A sequence whose random edits and bytes are tested here.
private protocol RandomlyEdited: Replicated, StateCoded where Operation: ByteCoded, Delta: StateCoded {
    static func edit(_ draft: inout Draft<Self>, _ generator: inout SeededGenerator)
}

extension ReplicatedText: RandomlyEdited {
    static func edit(_ draft: inout Draft<Self>, _ generator: inout SeededGenerator) {
        let count = draft.value.count
        let offset = Int.random(in: 0...count, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: draft.removeSubrange(offset..<Int.random(in: offset...Swift.min(count, offset + 4), using: &generator))
        case 1: draft.set(String(draft.value.string.filter { _ in generator.chance(80) } + "z"))
        case 2: draft.create()
        case _: draft.insert(["a", "bc", "é😀", "defg"].randomElement(using: &generator)!, at: offset)
        }
    }
}

extension ReplicatedList: RandomlyEdited where Value == ReplicatedDictionary<ExactString, ReplicatedText> {
    fileprivate static func edit(_ draft: inout Draft<Self>, _ generator: inout SeededGenerator) {
        let count = draft.value.count
        let index = Int.random(in: 0...count, using: &generator)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: draft.removeSubrange(index..<Int.random(in: index...Swift.min(count, index + 2), using: &generator))
        case 1 where index < count, 2 where index < count:
            draft.move(from: index, to: Int.random(in: 0..<count, using: &generator))
        case 3 where index < count:
            var text = draft[index][generator.chance(50) ? "t" : "u"]
            ReplicatedText.edit(&text, &generator)
        case 4 where index < count: draft[index].removeValue(forKey: "t")
        case 5: draft.create()
        case _:
            let insertion = draft.value.operation(
                inserting: [.create, .update("t", .insert(.after(nil, .end), "xyz")), .create], at: index,
                by: draft.origin.dot.replica)
            if let insertion { draft.record(insertion) }
        }
    }
}

extension ReplicatedOrderedSet: RandomlyEdited where Element == ExactString {
    fileprivate static func edit(_ draft: inout Draft<Self>, _ generator: inout SeededGenerator) {
        let count = draft.value.count
        let index = Int.random(in: 0...count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0 where index < count: draft.remove(at: index)
        case 1 where index < count, 2 where index < count:
            draft.move(from: index, to: Int.random(in: 0..<count, using: &generator))
        case 3: draft.create()
        case 4: draft.append(contentsOf: (0..<3).map { _ in ExactString("\(generator.next() % 9)") })
        case _: draft.insert(ExactString("\(generator.next() % 9)"), at: index)
        }
    }
}

@Suite struct SequenceHistoryTests {
    private typealias Tasks = ReplicatedList<ReplicatedDictionary<ExactString, ReplicatedText>>

    /// Changes, merges and deltas in any mixture; at the end one document that only applied, one that only merged, and
    /// one that only joined deltas are equal, and so are their bytes.
    private func check<Value: RandomlyEdited>(_ type: Value.Type, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var documents = Document<Value>.documents(Int.random(in: 2...4, using: &generator))
        var changes: [DocumentChange<Value.Operation>] = []
        var merging = Document<Value>(replica: .author(101))
        var joining = Document<Value>(replica: .author(102))
        for _ in 0..<40 {
            let index = Int.random(in: documents.indices, using: &generator)
            let other = documents.randomElement(using: &generator)!
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: documents[index].merge(other)
            case 1: try documents[index].join(other.delta(since: documents[index].vector))
            case 2: for change in changes { try? documents[index].apply(change) }
            case 3:
                merging.merge(other)
                let delta = other.delta(since: joining.vector)
                try joining.join(delta)
            case _:
                let change = documents[index].edit(wallMilliseconds: Int64(generator.next() % 3)) { draft in
                    for _ in 0..<Int.random(in: 1...2, using: &generator) { Value.edit(&draft, &generator) }
                }
                if let change { changes.append(change) }
            }
        }
        var applying = Document<Value>(replica: .author(103))
        for change in changes {
            for operation in change.operations {
                #expect(try Value.Operation(canonicalBytes: operation.canonicalBytes) == operation)
            }
            #expect(try DocumentChange(canonicalBytes: change.canonicalBytes) == change)
            try applying.apply(change)
        }
        for document in documents {
            merging.merge(document)
            let delta = document.delta(since: joining.vector)
            try joining.join(DocumentDelta(canonicalBytes: delta.canonicalBytes))
            #expect(try Document(canonicalBytes: document.canonicalBytes) == document)
            let content = document.value.delta(since: joining.vector)
            #expect(try Value.Delta(canonicalBytes: content.canonicalBytes) == content)
        }
        let bytes = applying.value.canonicalBytes
        #expect(merging.value == applying.value && merging.value.canonicalBytes == bytes, "seed \(seed)")
        #expect(joining.value == applying.value && joining.value.canonicalBytes == bytes, "seed \(seed)")
        let read = try Value(canonicalBytes: bytes)
        #expect(read == applying.value && read.hashValue == applying.value.hashValue)
        #expect("\(read)" == "\(applying.value)")
        damage(applying.value, &generator)
    }

    /// Damaged bytes are refused, or mean what they say; they never trap.
    private func damage<Value: RandomlyEdited>(_ value: Value, _ generator: inout SeededGenerator) {
        let bytes = value.canonicalBytes
        for _ in 0..<40 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: damaged.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: damaged[index] = UInt8(truncatingIfNeeded: generator.next())
                case 1: damaged.remove(at: index)
                case _: damaged.insert(UInt8.random(in: 0...3, using: &generator), at: index)
                }
                if damaged.isEmpty { damaged = [0] }
            }
            if var read = try? Value(canonicalBytes: damaged) {
                #expect(read.canonicalBytes == damaged)
                read.remove(
                    read.removal,
                    at: Origin(dot: Dot(replica: .author(1), counter: 9), stamp: .zero, context: VersionVector()))
                _ = "\(read)"
            }
            if let delta = try? Value.Delta(canonicalBytes: damaged) {
                #expect(delta.canonicalBytes == damaged)
                var joined = value
                joined.join(delta, held: VersionVector(), theirs: VersionVector())
                _ = "\(joined)"
            }
            _ = try? Value.Operation(canonicalBytes: damaged)
        }
    }

    @Test(arguments: 0..<150 as Range<UInt64>) func `texts are equal by every road`(seed: UInt64) throws {
        try check(ReplicatedText.self, seed: seed)
    }

    @Test(arguments: 0..<150 as Range<UInt64>) func `lists are equal by every road`(seed: UInt64) throws {
        try check(Tasks.self, seed: seed)
    }

    @Test(arguments: 0..<150 as Range<UInt64>) func `ordered sets are equal by every road`(seed: UInt64) throws {
        try check(ReplicatedOrderedSet<ExactString>.self, seed: seed)
    }
}
