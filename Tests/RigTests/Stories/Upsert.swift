import Testing

extension RigSuites.Stories {
    @Test func `two nodes create the same id apart, and it is one object with what both said`() throws {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try rig.apart(3) {
                try one.put("contact/ada", ["name": "Ada", "phone": "1815", "city": "London"])
                try three.put("contact/ada", ["name": "Ada", "mail": "ada@example.org", "city": "Paris"])
            }
            try rig.inStep()
            let fields = try rig.node(2).fields("contact/ada")
            #expect(fields["name"] == "Ada" && fields["phone"] == "1815" && fields["mail"] == "ada@example.org")
            try rig.expectEnding(in: "contact", conflicts: ["contact/ada city: concurrentValues"])
            let conflict = try #require(try rig.node(2).conflicts("contact").first)
            #expect(Set(conflict.values) == ["London", "Paris"])
            try rig.node(2).resolve("contact/ada", "city=London")
            try rig.inStep()
            #expect(try rig.node(3).fields("contact/ada")["city"] == "London")
            try rig.expectEnding(in: "contact")
        }
    }

    @Test func `an update of a deleted entity recreates it under updateWins, and deleting twice is fine everywhere`()
        throws
    {
        try StoryRig.tell { rig in
            let (one, two) = (rig.node(1), rig.node(2))
            try one.setSchema("entity", ["fields": ["name": "register"], "deletePolicy": "updateWins"])
            try one.put("entity/ada", ["name": "Ada", "phone": "1815"])
            try rig.inStep()
            #expect(try one.delete("entity/ada"))
            try rig.inStep()
            try two.put("entity/ada", ["name": "Ada again"])
            try rig.inStep()
            #expect(try rig.show([1, 2, 3], "entity/ada", ["name": "Ada again"]), "a new life is empty at first")

            #expect(try rig.node(3).delete("entity/ada"))
            try rig.inStep()
            for number in 1...3 {
                #expect(try !rig.node(number).delete("entity/ada"), "the second time there is nothing to delete")
                #expect(try !rig.node(number).delete("entity/never"), "nor what never was")
            }
            try rig.expectAbsent("entity/ada")
            try rig.expectEnding(in: "entity")
        }
    }

    @Test func `who writes on the condition of a version is told the present one when it changed`() throws {
        try StoryRig.tell { rig in
            let (one, two) = (rig.node(1), rig.node(2))
            let first = try one.put("meter/gas", ["reading": 10], "--if-absent").version
            try rig.inStep()
            let second = try two.put("meter/gas", ["reading": 11], "--if-version", first)
            try rig.inStep()
            #expect(try one.get("meter/gas").version != first)
            let refusal = try one.expectRefusal(
                ["put", "meter/gas", #"{"reading":12}"#, "--if-version", first], code: "version_mismatch", exit: 4)
            #expect(refusal?.error.version == (try one.get("meter/gas").version))
            try one.expectRefusal(["put", "meter/gas", "{}", "--if-absent"], code: "already_exists", exit: 4)
            #expect(second.fields == ["reading": 11])
            #expect(try rig.show([1, 2, 3], "meter/gas", ["reading": 11]), "what was refused wrote nothing")
            try rig.expectEnding(in: "meter")
        }
    }
}
