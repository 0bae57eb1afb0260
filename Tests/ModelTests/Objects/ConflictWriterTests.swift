import SyncModel
import Testing

/// Each side of a conflict has its author.
@Suite struct ConflictWriterTests {
    @Test func `each value that was written apart has its writer, also below a field`() throws {
        var desks = Desk.among(3)
        try desks[0].put(#"{"title":"of 0","d":{"x":"of 0"},"l":[{"n":"of 0"}],"same":1}"#)
        for index in 1...2 { desks[index].hear(desks[0]) }
        for index in 1...2 {
            for path in ["title", "d/x", "l/0/n"] {
                try desks[index].edit(path, .set(.string(ExactString("of \(index)"))))
            }
        }
        for index in 1...2 { desks[0].hear(desks[index]) }
        let conflicts = desks[0].reading.conflicts
        #expect(conflicts.map(\.path) == ["d/x", "l/0/n", "title"])
        for conflict in conflicts {
            let path = conflict.path.split(separator: "/").map { ExactString(String($0)) }
            let writers = desks[0].object.writers(at: path, nil)
            #expect(
                writers.map(\.replica) == conflict.values.map { $0 == "of 1" ? desks[1].replica : desks[2].replica })
            #expect(writers.allSatisfy { $0.stamp > .zero })
        }
        #expect(desks[0].object.writers(at: ["same"], nil).map(\.replica) == [desks[0].replica])
        #expect(desks[0].object.writers(at: ["nothing"], nil).isEmpty)
        #expect(desks[0].object.writers(at: ["l", "7"], nil).isEmpty)
    }

    @Test func `who edited and who deleted are two, until somebody decides`() throws {
        let schema = try CollectionSchema(#"{"fields":{},"deletePolicy":"ask"}"#)
        var desks = Desk.among(3, schema: schema)
        try desks[0].put(#"{"n":0}"#)
        for index in 1...2 { desks[index].hear(desks[0]) }
        try desks[2].put(#"{"n":1}"#)
        try desks[2].put(#"{"n":2}"#)
        try desks[0].write(.delete(Desk.key, ifVersion: nil))
        for index in 0...1 { desks[1].hear(desks[2 * index]) }
        let lives = desks[1].object.lives
        #expect(lives.undecidedEdits.map(\.replica) == [desks[2].replica])
        #expect(lives.undecidedDeletions.map(\.dot.replica) == [desks[0].replica])
        try desks[1].resolve(.keep)
        #expect(desks[1].object.lives.undecidedEdits.isEmpty && desks[1].object.lives.undecidedDeletions.isEmpty)
    }
}
