import ReplicatedTypes

/// What this family of engines is known to be slow at.
enum WorstCases {
    /// `count` replicas each type three letters in the same place, none knowing of the others.
    static func branches(_ count: Int, runs: Int) throws {
        let start = kept(dots: 100)
        var updates: [[UInt8]] = []
        for number in 0..<count {
            var branch = try TextEditor.opened(start, as: number + 2)
            let abc = Patch(position: 50, deleted: 0, inserted: "abc")
            if let update = branch.written(CollectionOfOne(abc)) { updates.append(update) }
        }
        shuffle(&updates)
        let typed = String(repeating: "abc", count: count)
        try Merging.oneByOne("branches", updates, end: dots(50) + typed + dots(50), runs: runs) {
            try .opened(start, as: 9_999_999)
        }
    }

    /// Two authors type one letter each, in turn, each beside the other's last, in the middle of a text.
    static func turns(_ count: Int, runs: Int) throws {
        let start = kept(dots: 1_000)
        var updates: [[UInt8]] = []
        var authors = [try TextEditor.opened(start, as: 2), try TextEditor.opened(start, as: 3)]
        for turn in 0..<count {
            let letter = Patch(position: 500 + turn, deleted: 0, inserted: turn % 2 == 0 ? "a" : "b")
            guard let update = authors[turn % 2].written(CollectionOfOne(letter), at: turn) else { continue }
            try authors[1 - turn % 2].apply(bytes: update)
            updates.append(update)
        }
        let typed = String(repeating: "ab", count: count / 2)
        try Merging.oneByOne("turns", updates, end: dots(500) + typed + dots(500), runs: runs) {
            try .opened(start, as: 9_999)
        }
    }

    private static func dots(_ count: Int) -> String { String(repeating: ".", count: count) }

    private static func kept(dots count: Int) -> [UInt8] {
        var base = TextEditor(replica: .racer(1))
        base.type(CollectionOfOne(Patch(position: 0, deleted: 0, inserted: dots(count))))
        return base.document.canonicalBytes
    }

    /// Always to the same order; in which one does not matter much.
    private static func shuffle(_ updates: inout [[UInt8]]) {
        var state: UInt64 = 1
        for index in stride(from: updates.count - 1, to: 0, by: -1) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            updates.swapAt(index, Int(state >> 33) % (index + 1))
        }
    }
}
