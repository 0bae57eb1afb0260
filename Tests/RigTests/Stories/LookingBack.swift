import Testing

extension RigSuites.Stories {
    @Test func `two people type apart, and afterwards everybody reads who wrote what, and every version, alike`() throws
    {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.setSchema("letter2", ["fields": ["body": "text"]])
            let start = try one.put("letter2/a", ["body": "Dear all,\nsee you.\n", "mood": "glad"])
            try rig.inStep()
            var apart: [StoredObject] = []
            try rig.apart(3) {
                // Typed letter by letter, each saved before the next.
                for (index, letter) in "Ann and ".enumerated() {
                    apart.append(try one.edit("letter2/a", "body.insert@\(5 + index)=\(letter)", "--string"))
                }
                apart.append(try three.edit("letter2/a", "body.insert@13= soon", "mood=calm"))
                apart.append(try three.edit("letter2/a", "body.delete@0:4", "body.insert@0=Hello"))
            }
            try rig.inStep()
            let nodes = [one, rig.node(2), three]
            // A version is what its author had before it, and nothing that was written apart.
            for version in [start] + apart {
                for node in nodes {
                    #expect(try node.object("letter2/a", at: version.version).fields == version.fields, "\(node.name)")
                }
            }
            let whole: JSONValue = ["body": "Hello Ann and all,\nsee soon you.\n", "mood": "calm"]
            #expect(try rig.show([1, 2, 3], "letter2/a", whole))
            try blames(nodes, start, apart)
            try differs(nodes, start, apart)
            let letters = try rig.node(2).history("letter2/a").filter { $0.field == "body" && $0.kind == "edited" }
            #expect(letters.allSatisfy { $0.old == nil && $0.new == nil }, "\(letters)")
            let typed = letters.filter { $0.edits?.map(\.inserted.count) == [1] }.compactMap {
                $0.edits?.first?.inserted
            }
            #expect(typed.joined() == "Ann and ", "\(letters)")
            try rig.expectEnding(in: "letter2")
        }
    }

    private func blames(_ nodes: [Node], _ start: StoredObject, _ apart: [StoredObject]) throws {
        let blame = try nodes[0].blame("letter2/a", "body")
        for node in nodes { #expect(try node.blame("letter2/a", "body") == blame, "\(node.name)") }
        #expect(
            blame.compactMap(\.text) == ["Hello", " "] + "Ann and ".map { String($0) } + [
                "all,\nsee", " soon", " you.\n",
            ])
        #expect(blame.map(\.offset) == [0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 22, 27])
        let versions = [apart[9], start] + apart[..<8] + [start, apart[8], start]
        #expect(blame.map(\.version) == versions.map(\.version))
        #expect(Set(blame.map(\.device)).count == 2 && blame[0].device == blame[11].device)
        // As it was when the first word was typed.
        let earlier = try nodes[2].blame("letter2/a", "body", at: apart[0].version)
        #expect(earlier.compactMap(\.text) == ["Dear ", "A", "all,\nsee you.\n"])
        for node in nodes {
            let mood = try node.blame("letter2/a", "mood")
            #expect(mood.map(\.value) == ["calm"] && mood.map(\.version) == [apart[8].version], "\(node.name)")
        }
        let text = try nodes[1].lanyard("history", "letter2/a", "--field", "body", "--blame").output
        let marks = text.split(separator: "\n").compactMap { line in line.first { $0 == "│" || $0 == "╰" } }
        #expect(marks == Array("│╰│╰╰"), "\(text)")
    }

    private func differs(_ nodes: [Node], _ start: StoredObject, _ apart: [StoredObject]) throws {
        for node in nodes {
            let typed = try node.difference("letter2/a", from: start.version, at: apart[7].version)
            #expect(typed.map(\.edits) == [[TextStep(offset: 5, deleted: "", inserted: "Ann and ")]], "\(node.name)")
            let all = try node.difference("letter2/a", from: start.version)
            #expect(all.map(\.field) == ["body", "mood"] && all[1].old == "glad" && all[1].new == "calm")
            let lines = all[0].lines ?? []
            #expect(lines.flatMap(\.deleted) == ["Dear all,", "see you."], "\(node.name): \(all)")
            #expect(lines.flatMap(\.inserted) == ["Hello Ann and all,", "see soon you."], "\(node.name): \(all)")
        }
    }

    @Test func `a person's characters stay whole unless somebody insists`() throws {
        try StoryRig.tell { rig in
            let one = rig.node(1)
            try one.setSchema("card", ["fields": ["body": "text"]])
            try one.put("card/a", ["body": "a👩‍👧b"])
            try one.expectRefusal(["edit", "card/a", "body.insert@2=x"], code: "inside_character", exit: 1)
            try one.expectRefusal(["edit", "card/a", "body.delete@0:2"], code: "inside_character", exit: 1)
            try one.expectRefusal(["edit", "card/a", "body.insert@9=x"], code: "index_out_of_range", exit: 1)
            #expect(try one.fields("card/a") == ["body": "a👩‍👧b"], "refused edits leave nothing behind")
            try one.edit("card/a", "body.insert@4=!")
            try one.edit("card/a", "body.insert@2=?", "--split-characters")
            try rig.inStep()
            #expect(try rig.show([1, 2, 3], "card/a", ["body": "a👩?\u{200D}👧!b"]))
            try rig.expectEnding(in: "card")
        }
    }
}
