import SyncModel
import SyncStore
import Testing

/// What every store promises about what was done to an object, and about what only this node knows of it.
@Suite("Store contract: histories of objects")
struct ObjectHistoryTests {
    /// Who wrote, and which value field `x` was given.
    private func summary(_ store: SQLiteStore, _ name: String) throws -> [String] {
        try store.touches(of: ObjectKey(name), space: .home).map { touch in
            let action =
                switch touch.action {
                case .edit(.birth, let edits): "birth \(edits.count)"
                case .edit(_, let edits): "edit \(edits.count)"
                case .editAttachments(_, .attach): "attach"
                case .editAttachments(_, .detach): "detach"
                case .delete: "delete"
                case .keep: "keep"
                }
            return "\(touch.origin.dot.counter)@\(touch.wallMilliseconds) \(action)"
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every operation on an object is found again, in the order it came, with what its author knew`(
        kind: StoreKind
    ) throws {
        let stores = try introduced(kind, count: 2)
        let (store, other) = (stores[0], stores[1])
        try store.write(.putting("c/a", #"{"x":1}"#), .putting("c/b", #"{"x":1}"#), at: 10)
        try store.write(.putting("c/b", #"{"x":2}"#), at: 20)
        try other.pull(from: store)
        try other.write(.putting("c/a", #"{"x":2,"y":1}"#), at: 30)
        try store.pull(from: other)
        try store.append(
            [.planned([.putting("c/a", #"{"x":3}"#)]), .planned([.putting("c/b", #"{"x":4}"#)])], wallMilliseconds: 40
        ).outcomes.forEach { _ = try $0.get() }
        try store.write(.deleting("c/a"), at: 50)
        try other.pull(from: store)
        #expect(try summary(store, "c/a") == ["2@10 birth 1", "1@30 edit 2", "7@40 edit 1", "9@50 delete"])
        #expect(try summary(store, "c/b") == ["4@10 birth 1", "6@20 edit 1", "8@40 edit 1"])
        let own = try #require(try store.state().ownReplica)
        let touches = try store.touches(of: ObjectKey("c/a"), space: .home)
        #expect(touches[1].origin.context.next(of: own) == 7 && touches[2].origin.context.next(of: own) == 0)
        #expect(touches[2].origin.knows(touches[1].origin.dot) && !touches[1].origin.knows(touches[2].origin.dot))
        #expect(touches.map(\.origin.stamp) == touches.map(\.origin.stamp).sorted())
        // The same on the other node, whose segments were cut otherwise.
        #expect(try other.touches(of: ObjectKey("c/a"), space: .home) == touches)
        #expect(try store.touches(of: ObjectKey("c/none"), space: .home).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `what a history holds, applied anew, gives the object`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 3)
        for round in 0..<6 {
            for (index, store) in stores.enumerated() {
                try store.write(.putting("c/a", #"{"x":\#(round * 3 + index),"l\#(index)":[\#(round)]}"#))
                if round % 2 == index % 2 { try store.pull(from: stores[(index + 1) % 3]) }
            }
        }
        try converge(stores)
        for store in stores {
            var state = ObjectState()
            let members = try store.members()
            for touch in try store.touches(of: ObjectKey("c/a"), space: .home) {
                _ = state.apply(
                    touch.action, at: touch.origin, wallMilliseconds: touch.wallMilliseconds, members: members,
                    earlier: { [] })
            }
            #expect(try store.object("c/a")?.state == state)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `local fields are never in the bytes that are shipped`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        try store.write(.schema("c", #"{"fields":{"d":"local"}}"#))
        try store.write(.putting("c/a", #"{"d":"secret-one","x":1}"#))
        let before = try store.state()
        try store.write(.editing("c/a", "d", .set("secret-two")))
        #expect(try store.state() == before, "a local field alone writes no change")
        try store.write(.putting("c/b", #"{"d":"secret-three"}"#))
        let replica = try #require(before.ownReplica)
        for segment in try store.segments(of: replica, from: 0, byteBudget: .max) {
            #expect(!String(decoding: segment.bytes, as: UTF8.self).contains("secret"))
        }
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        try other.pull(from: store)
        #expect(try other.state().digest == store.state().digest)
        #expect(try other.object("c/a")?.localFields == [])
        store.close()
        #expect(try bed.open().object("c/a")?.localFields == JSONValue(json: #"{"d":"secret-two"}"#).members)
    }

    @Test(arguments: StoreKind.allCases)
    func `a dismissed list of dropped edits stays dismissed, here only, until there are more`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let beds = [bed] + (2...3).map { StoreBed(.memory, device: TestDevice(UInt8($0))) }
        let stores = try introduced(beds)
        var store = stores[0]
        try store.write(.putting("c/a", #"{"x":1}"#))
        try converge(stores)
        try stores[1].write(.putting("c/a", #"{"x":2}"#), at: 5_000)
        try stores[1].write(.putting("c/a", #"{"x":3}"#), at: 6_000)
        try stores[2].write(.putting("c/a", #"{"x":4}"#), at: 7_000)
        try store.write(.deleting("c/a"))
        try stores[1].pull(from: store)
        try store.pull(from: stores[1])
        for one in [store, stores[1]] {
            let edited = try #require(try one.object("c/a")).droppedEdits
            #expect(edited.map(\.count) == [2] && edited.map(\.lastWallMilliseconds) == [6_000])
            #expect(try one.find(nil, .conflicted) == ["c/a"])
        }
        try store.write(.resolving("c/a", .dismiss))
        #expect(try store.object("c/a")?.droppedEdits == [] && store.find(nil, .conflicted).isEmpty)
        #expect(try stores[1].find(nil, .conflicted) == ["c/a"])
        store.close()
        store = try bed.open()
        #expect(try store.object("c/a")?.droppedEdits == [] && store.find(nil, .conflicted).isEmpty)
        try store.pull(from: stores[2])
        #expect(try store.object("c/a")?.droppedEdits.map(\.count).sorted() == [1, 2])
        #expect(try store.find(nil, .conflicted) == ["c/a"])
        #expect(try store.json("c/a") == nil && store.state().counts.deletedObjects == 1)
    }

    /// E is concurrent to the deletions D and F: however the three arrive, and in however many transactions, the same
    /// is listed for both.
    @Test(arguments: StoreKind.allCases)
    func `what deletions dropped is counted alike, whatever came together`(kind: StoreKind) throws {
        let stores = try introduced(.memory, count: 4)
        try stores[0].write(.putting("c/a", #"{"x":1}"#))
        try converge(stores)
        try stores[1].write(.putting("c/a", #"{"x":2}"#))
        try stores[2].write(.deleting("c/a"))
        try stores[3].write(.deleting("c/a"))
        let tails = try (1...3).map { try stores[0].missing(from: stores[$0]) }
        let base = stores[0]
        var found: [ObjectState] = []
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for sizes in [[3], [1, 2], [2, 1], [1, 1, 1]] {
                let store = try StoreBed(kind, device: TestDevice(9)).open()
                try store.pull(from: base)
                var rest = order[...]
                for size in sizes {
                    _ = try store.apply(rest.prefix(size).flatMap { tails[$0] }, wallMilliseconds: 0)
                    rest = rest.dropFirst(size)
                }
                found.append(try #require(try store.object("c/a")).state)
                #expect(found.last == found.first, "order \(order), transactions \(sizes)")
            }
        }
        let deletions = try #require(found.first).lives.deletions
        #expect(deletions.map { $0.edited.map(\.count) } == [[1], [1]])
    }
}
