import Testing

extension RigSuites.Stories {
    /// Node 3 has an application of last year: it reads and writes the fields it knows, and has not heard of the others.
    @Test func `a write from an older schema to a newer one and back loses nothing`() throws {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.setSchema("book", ["fields": ["title": "register", "text": "text"]])
            try one.put("book/a", ["title": "Emma", "text": "A novel."])
            try rig.inStep()
            try rig.apart(3) {
                try one.setSchema(
                    "book",
                    [
                        "fields": [
                            "title": "register", "text": "text", "read": "counter", "shelf": "set",
                            "cover": "dictionary",
                        ], "indexed": ["title"], "deletePolicy": "updateWins",
                    ])
                try one.put("book/a", ["shelf": ["novels"], "cover": ["colour": ["name": "red"]]])
                try one.edit("book/a", "read+=2")
                try three.put("book/a", ["title": "Emma", "text": "A novel by Jane Austen."])
                try three.put("book/b", ["title": "Persuasion", "text": ""])
            }
            try rig.inStep()
            let whole: JSONValue = [
                "title": "Emma", "text": "A novel by Jane Austen.", "read": 2, "shelf": ["novels"],
                "cover": ["colour": ["name": "red"]],
            ]
            #expect(try rig.show([1, 2, 3], "book/a", whole))
            // There and back once more: the older one saves what it knows, over what it does not.
            try three.put("book/a", ["title": "Emma (1815)", "text": "A novel by Jane Austen."])
            try rig.inStep()
            #expect(try rig.node(1).fields("book/a")["read"] == 2)
            #expect(try rig.node(1).fields("book/a")["cover"] == ["colour": ["name": "red"]])
            #expect(try rig.node(2).fields("book/b")["title"] == "Persuasion")
            try schemaIsUnited(rig)
            try rig.expectEnding(in: "book")
        }
    }

    /// The older application says again what its schema is. That takes nothing away.
    private func schemaIsUnited(_ rig: Rig) throws {
        try rig.node(3).setSchema("book", ["fields": ["title": "register", "text": "text"]])
        try rig.inStep()
        let schemas = try rig.ask([1, 2, 3]) { node in
            try node.decode(JSONValue.self, try node.lanyard("schema", "show", "book", "--json").output)
        }
        #expect(Set(schemas).count == 1)
        let fields = try #require(schemas.first?["fields"])
        for name in ["title", "text", "read", "shelf", "cover"] {
            #expect(fields[name] != nil, "the field \(name) is still there: \(schemas)")
        }
        #expect(schemas.first?["indexed"] == ["title"] && schemas.first?["deletePolicy"] == "updateWins", "\(schemas)")
    }

    @Test func `two nodes that give one field different types lose neither`() throws {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try rig.apart(3) {
                try one.put("recipe/soup", ["salt": "a pinch"])
                try three.put("recipe/soup", ["salt": ["a pinch", "more later"]])
            }
            try rig.inStep()
            #expect(try rig.show([1, 2, 3], "recipe/soup", ["salt": "a pinch"]), "a register comes before a list")
            try rig.expectEnding(in: "recipe", conflicts: ["recipe/soup salt: types"])
            try one.resolve("recipe/soup", "salt=a pinch, more later")
            try rig.inStep()
            #expect(try rig.show([1, 2, 3], "recipe/soup", ["salt": "a pinch, more later"]))
            try rig.expectEnding(in: "recipe")
        }
    }
}
