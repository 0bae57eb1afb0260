import Foundation
import Testing

extension RigSuites.Stories {
    @Test func `one play known to all, ten on a phone offline and five on a laptop are sixteen, counted or reduced`()
        throws
    {
        try StoryRig.tell { rig in
            let (home, laptop, phone) = (rig.node(1), rig.node(2), rig.node(3))
            try home.setSchema("song", ["fields": ["title": "register", "plays": "counter"]])
            try home.put("song/yesterday", ["title": "Yesterday"])
            try play(1, on: home)
            try rig.inStep()
            try rig.apart(2, 3) {
                try play(10, on: phone)
                try play(5, on: laptop)
                #expect(try phone.fields("song/yesterday")["plays"] == 11, "offline it counts on")
            }
            try rig.inStep()
            for node in [home, laptop, phone] {
                #expect(try node.fields("song/yesterday") == ["title": "Yesterday", "plays": 16])
                #expect(try playsByReducer(on: node) == 16)
            }
            try rig.expectEnding(in: "song")
        }
    }

    /// Each play is counted in the object, and is an event beside it.
    private func play(_ times: Int, on node: Node) throws {
        let script = """
            for time in $(seq \(times)); do
                lanyard edit song/yesterday plays+=1 -q && lanyard emit plays '{"song":"yesterday"}' -q || exit 1
            done
            """
        try node.shell(script)
    }

    /// What an application that keeps no objects does: it adds up the events in the order that is the same everywhere.
    private func playsByReducer(on node: Node) throws -> Int? {
        let reducer =
            "lanyard events plays --order canonical | jq -s 'map(select(.payload.song == \"yesterday\")) | length'"
        return Int(try node.run(["sh", "-c", reducer]).output.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
