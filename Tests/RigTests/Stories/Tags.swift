import Testing

extension RigSuites.Stories {
    @Test func `'Foo' and 'foo' created apart, their id the folded name, end as one tag`() throws {
        try StoryRig.tell { rig in
            try rig.apart(3) {
                try rig.node(1).put("label/foo", ["name": "Foo"])
                try rig.node(3).put("label/foo", ["name": "foo"])
            }
            try rig.inStep()
            for number in 1...3 { #expect(try rig.node(number).list("label").map(\.id) == ["foo"]) }
            try rig.expectEnding(in: "label", conflicts: ["label/foo name: concurrentValues"])
            try rig.node(1).resolve("label/foo", "name=Foo")
            try rig.inStep()
            #expect(try rig.show([1, 2, 3], "label/foo", ["name": "Foo"]))
            try rig.expectEnding(in: "label")
        }
    }

    @Test func `a note's reference to a deleted tag is not shown, also where the note was written apart`() throws {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.setSchema(
                "article", ["fields": ["title": "register", "tags": ["type": "set", "refers": "topic"]]])
            for tag in ["food", "travel"] { try one.put("topic/\(tag)", ["name": .text(tag)]) }
            try one.put("article/rome", ["title": "Rome", "tags": ["food", "travel"]])
            try rig.inStep()
            try rig.apart(3) {
                #expect(try one.delete("topic/food"))
                try three.put("article/oslo", ["title": "Oslo", "tags": ["food"]])
                #expect(try three.fields("article/oslo")["tags"] == ["food"], "it has not heard of the deletion")
            }
            try rig.inStep()
            #expect(try rig.show([1, 2, 3], "article/rome", ["title": "Rome", "tags": ["travel"]]))
            #expect(try rig.show([1, 2, 3], "article/oslo", ["title": "Oslo", "tags": []]))
            try rig.expectEnding(in: "article", "topic")
        }
    }
}
