import Testing

extension RigSuites {
    @Suite(.rig(5)) struct LightSwitchStories {
        static let nodes = [1, 2, 3, 4, 5]

        @Test func `a light is flipped from each of five switches in turn, and all five agree within a second`() throws
        {
            try StoryRig.tell { rig in
                try rig.node(1).put("light/hall", ["on": false])
                try rig.inStep(Self.nodes)
                for number in Self.nodes {
                    let wasOn = try rig.node(number).fields("light/hall")["on"] == true
                    try rig.node(number).put("light/hall", ["on": .boolean(!wasOn)])
                    try eventually(within: .seconds(1), "all five see the flip of node \(number)") {
                        try rig.show(Self.nodes, "light/hall", ["on": .boolean(!wasOn)])
                    }
                }
                try rig.expectEnding(in: "light", of: Self.nodes)
            }
        }
    }
}
