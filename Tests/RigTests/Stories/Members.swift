import Testing

extension RigSuites.Stories {
    @Test func `where upsert is off, an update never recreates a deleted user and a second create is refused`() throws {
        try StoryRig.tell { rig in
            let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
            try one.setSchema(
                "user", ["fields": ["name": "register"], "deletePolicy": "updateWins", "upsert": false])
            try rig.inStep()
            try one.expectRefusal(["put", "user/ada", #"{"name":"Ada"}"#], code: "not_found", exit: 3)
            try one.put("user/ada", ["name": "Ada"], "--if-absent")
            try rig.inStep()
            try two.expectRefusal(
                ["put", "user/ada", #"{"name":"Eve"}"#, "--if-absent"], code: "already_exists", exit: 4)
            try two.put("user/ada", ["name": "Ada L."])
            try rig.inStep()
            #expect(try three.delete("user/ada"))
            try rig.inStep()
            for node in [one, two, three] {
                try node.expectRefusal(["put", "user/ada", #"{"name":"Ada"}"#], code: "object_deleted", exit: 4)
                try node.expectRefusal(["edit", "user/ada", "name=Ada"], code: "object_deleted", exit: 4)
            }
            try rig.expectAbsent("user/ada")
            try rig.expectEnding(in: "user")
        }
    }
}
