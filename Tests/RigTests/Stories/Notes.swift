import Testing

extension RigSuites.Stories {
    private static let noteSchema: JSONValue = [
        "fields": ["title": "register", "body": "text", "tags": "set", "priority": "register"]
    ]

    @Test
    func
        `title, text, tags, priority and the order of the notes are edited on both sides, and a note moved twice appears once`()
        throws
    {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.setSchema("note", Self.noteSchema)
            try one.setSchema("desk", ["fields": ["order": "orderedSet"]])
            try one.put("note/a", ["title": "Garden", "body": "Sow peas.", "tags": ["old"], "priority": 3])
            try one.put("desk/main", ["order": ["a", "b", "c", "d"]])
            try rig.inStep()
            try rig.apart(3) {
                try one.edit("note/a", "title=Kitchen garden", "tags.add=home")
                try one.edit("desk/main", "order.move@0:3")
                try three.edit(
                    "note/a", "body.insert@9= Water them.", "tags.add=spring", "tags.remove=old", "priority=1")
                try three.edit("desk/main", "order.move@0:1", "order.move@3:0")
            }
            try rig.inStep()
            let whole: JSONValue = [
                "title": "Kitchen garden", "body": "Sow peas. Water them.", "tags": ["home", "spring"], "priority": 1,
            ]
            #expect(try rig.show([1, 2, 3], "note/a", whole))
            let order = try #require(try rig.node(2).fields("desk/main")["order"])
            #expect(order.elements.compactMap(\.text).sorted() == ["a", "b", "c", "d"], "each note once: \(order)")
            #expect(order.elements.first == "d", "only node 3 moved that one: \(order)")
            #expect(try rig.show([1, 2, 3], "desk/main", ["order": order]))
            try rig.expectEnding(in: "note", "desk")
        }
    }

    @Test func `cat and dog typed apart at one place never mix, and two spelling corrections both survive`() throws {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.setSchema("page", Self.noteSchema)
            try one.put("page/pets", ["body": "I have a ."])
            try one.put("page/fox", ["body": "Teh quick brown fox jumps over the layz dog."])
            try rig.inStep()
            try rig.apart(3) {
                try type("cat", into: "page/pets", at: 9, on: one)
                try type("dog", into: "page/pets", at: 9, on: three)
                // As an editor does that knows nothing of operations: it saves the whole text.
                try one.put("page/fox", ["body": "The quick brown fox jumps over the layz dog."])
                try three.put("page/fox", ["body": "Teh quick brown fox jumps over the lazy dog."])
            }
            try rig.inStep()
            let pets = try #require(try rig.node(2).fields("page/pets")["body"])
            #expect(["I have a catdog.", "I have a dogcat."].contains(pets), "\(pets)")
            #expect(try rig.show([1, 2, 3], "page/pets", ["body": pets]))
            #expect(
                try rig.show([1, 2, 3], "page/fox", ["body": "The quick brown fox jumps over the lazy dog."]))
            try rig.expectEnding(in: "page")
        }
    }

    @Test func `two titles given apart are both kept until somebody chooses, and history says who changed what`() throws
    {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.put("letter/a", ["title": "Draft"])
            try rig.inStep()
            try rig.apart(3) {
                try one.put("letter/a", ["title": "To my sister"])
                try three.put("letter/a", ["title": "To my brother"])
            }
            try rig.expectEnding(in: "letter", conflicts: ["letter/a title: concurrentValues"])
            let shown = try #require(try rig.node(2).fields("letter/a")["title"])
            #expect(try rig.show([1, 2, 3], "letter/a", ["title": shown]))
            // Writing the value that is shown is a decision, too.
            try rig.node(2).put("letter/a", ["title": shown])
            try rig.expectEnding(in: "letter")
            let history = try rig.node(1).history("letter/a")
            #expect(Set(history.map(\.device)).count == 3, "each of the three wrote it: \(history)")
            let steps = history.filter { $0.field == "title" }
            #expect(Set(steps.compactMap(\.new)) == ["Draft", "To my sister", "To my brother"], "\(steps)")
            #expect(steps.first?.kind == "created" && steps.first?.old == nil, "\(steps)")
            #expect(steps.dropFirst().allSatisfy { $0.kind == "edited" && $0.old != nil }, "\(steps)")
        }
    }

    /// Letter by letter, each saved before the next.
    private func type(_ word: String, into object: String, at offset: Int, on node: Node) throws {
        for (index, letter) in word.enumerated() {
            try node.edit(object, "body.insert@\(offset + index)=\(letter)")
        }
    }
}
