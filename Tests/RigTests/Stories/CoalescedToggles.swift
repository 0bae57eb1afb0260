import Testing

extension RigSuites.Stories {
    @Test func `a checkbox toggled nine times offline ships as one change`() throws {
        try StoryRig.tell { rig in
            let (home, phone) = (rig.node(1), rig.node(3))
            try home.put("box/milk", ["title": "milk", "done": false])
            try rig.inStep()
            let before = try home.homeChanges()
            // Started alone, it has no session: what it writes stays open until one begins.
            try rig("stop", "3")
            try rig.apart(3) {
                try rig("start", "3")
                try phone.shell(
                    """
                    done=true
                    for time in $(seq 9); do
                        lanyard edit box/milk done=$done -q || exit 1
                        if [ $done = true ]; then done=false; else done=true; fi
                    done
                    """)
                #expect(try phone.fields("box/milk")["done"] == true)
            }
            try eventually(within: .seconds(5), "node 1 sees the ninth toggle") {
                try home.fields("box/milk")["done"] == true
            }
            try rig.expectEnding(in: "box")
            #expect(try home.homeChanges() - before == 1)
        }
    }
}
