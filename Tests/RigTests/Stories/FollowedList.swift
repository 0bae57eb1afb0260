import Foundation
import Testing

extension RigSuites.Stories {
    @Test func `a list on one machine stays what all machines made of it, also across a cut and a crash`() throws {
        try StoryRig.tell { rig in
            let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
            let question = [
                "list", "chore", "--watch", "--where", "done = false and prio < 10", "--sort", "prio desc", "--limit",
                "3",
            ]
            for (id, prio) in [("sweep", 1), ("wash", 5), ("cook", 3)] {
                try one.put("chore/\(id)", ["done": false, "prio": .integer(Int64(prio))])
            }
            try rig.inStep()
            func isListed(_ ids: [String], _ lines: () throws -> [JSONValue]) throws {
                try eventually(within: .seconds(20), "the list is \(ids)") { try Self.list(lines()) == ids }
            }
            try two.printing(question) { lines in
                try isListed(["wash", "cook", "sweep"], lines)
                try one.put("chore/shop", ["done": false, "prio": 9])
                try isListed(["shop", "wash", "cook"], lines)
                // Two machines change the list apart; the watcher hears of one of them, and later of the other.
                try rig("isolate", "3")
                try three.edit("chore/wash", "done=true")
                try three.put("chore/mend", ["done": false, "prio": 8])
                try one.edit("chore/sweep", "prio=7")
                try isListed(["shop", "sweep", "wash"], lines)
                try rig("heal")
                try isListed(["shop", "mend", "sweep"], lines)
                try rig("kill", "2")
            }
            try rig("start", "2")
            try rig.inStep()
            try two.printing(question) { lines in
                try isListed(["shop", "mend", "sweep"], lines)
                #expect(try one.delete("chore/shop"))
                try isListed(["mend", "sweep", "cook"], lines)
            }
            try rig.expectEnding(in: "chore")
        }
    }

    /// The list that the differences lead to: what is named goes, then what is placed comes to its index.
    private static func list(_ lines: [JSONValue]) -> [String] {
        var (shown, named, placed): ([String], Set<String>, [(id: String, index: Int)]) = ([], [], [])
        for line in lines {
            let id = line["id"]?.text ?? line["object"]?["id"]?.text
            if let id { named.insert(id) }
            switch line["kind"]?.text {
            case "reset": (shown, named, placed) = ([], [], [])
            case "complete":
                shown.removeAll(where: named.contains)
                for object in placed { shown.insert(object.id, at: object.index) }
                (named, placed) = ([], [])
            case "removed": break
            case _:
                guard let id, case .integer(let index)? = line["index"] else { continue }
                placed.append((id, Int(index)))
            }
        }
        return shown
    }
}
