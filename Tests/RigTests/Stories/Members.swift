import Testing

extension RigSuites.Stories {
    @Test func `where upsert is off, an update never recreates a deleted user and a second create is refused`() throws {
        try StoryRig.tell { rig in
            let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
            try one.setSchema("user", ["fields": ["name": "register"], "upsert": false])
            // Here a deletion bars nobody: only the missing upsert does.
            try one.setSchema(
                "guest", ["fields": ["name": "register"], "deletePolicy": "updateWins", "upsert": false])
            try rig.inStep()
            for user in ["user/ada", "guest/ada"] {
                try one.expectRefusal(["put", user, #"{"name":"Ada"}"#], code: "not_found", exit: 3)
                try one.put(user, ["name": "Ada"], "--if-absent")
            }
            try rig.inStep()
            for user in ["user/ada", "guest/ada"] {
                try two.expectRefusal(
                    ["put", user, #"{"name":"Eve"}"#, "--if-absent"], code: "already_exists", exit: 4)
                try two.put(user, ["name": "Ada L."])
            }
            try rig.inStep()
            for user in ["user/ada", "guest/ada"] { #expect(try three.delete(user)) }
            try rig.inStep()
            for node in [one, three] {
                for user in ["user/ada", "guest/ada"] {
                    try node.expectRefusal(["put", user, #"{"name":"A"}"#], code: "object_deleted", exit: 4)
                    try node.expectRefusal(["edit", user, "name=A"], code: "object_deleted", exit: 4)
                }
            }
            for user in ["user/ada", "guest/ada"] { try rig.expectAbsent(user) }
            try rig.expectEnding(in: "user", "guest")
        }
    }

    @Test func `a user updated apart from her deletion stays deleted, and the update is listed`() throws {
        try StoryRig.tell { rig in
            try rig.node(1).setSchema("player", ["fields": ["name": "register"], "upsert": false])
            try rig.node(1).put("player/eve", ["name": "Eve"], "--if-absent")
            try rig.inStep()
            try rig.apart(3) {
                #expect(try rig.node(1).delete("player/eve"))
                try rig.node(3).put("player/eve", ["name": "Eve, updated"])
            }
            try rig.inStep()
            try rig.expectAbsent("player/eve")
            try rig.expectEnding(in: "player", conflicts: ["player/eve: editedWhileDeleted"])
        }
    }
}
