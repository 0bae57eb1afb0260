import Foundation
import Testing

extension RigSuites.LightSwitchStories {
    @Test func `five programs switch one lamp while all are apart, and show the same afterwards`() throws {
        try StoryRig.tell { rig in
            try rig.node(1).program("light-switch", "off", "hall")
            try rig.inStep(Self.nodes)
            try watching(Self.nodes[...], of: rig) { lamps in
                func show(_ lamp: String, _ states: [Int: String]) throws -> Bool {
                    try states.allSatisfy { number, state in try lamps(number)[lamp] == state }
                }
                func everywhere(_ state: String) -> [Int: String] {
                    Dictionary(uniqueKeysWithValues: Self.nodes.map { ($0, state) })
                }
                try eventually(within: .seconds(5), "all show that the hall is dark") {
                    try show("hall", everywhere("off"))
                }
                let switched = [1: "on", 2: "off", 3: "on", 4: "off", 5: "on"]
                try rig.apart(1, 2, 3, 4, 5) {
                    for number in Self.nodes {
                        try rig.node(number).program("light-switch", switched[number] ?? "", "hall")
                        try rig.node(number).program("light-switch", "on", "desk \(number)")
                    }
                    try eventually(within: .seconds(5), "each shows what its own device did") {
                        try show("hall", switched)
                    }
                    #expect(try lamps(1)["desk 5"] == nil, "they are apart")
                }
                try eventually(within: .seconds(20), "all show the last switch, and the lamps of all") {
                    try show("hall", everywhere("on"))
                        && Self.nodes.allSatisfy { try show("desk \($0)", everywhere("on")) }
                }
            }
            try rig.inStep(Self.nodes)
            // One event is left of each lamp, on every device.
            for events in try rig.ask(Self.nodes, { try $0.lanyard("events", "lights").lines }) {
                #expect(events.count == 6, "\(events)")
            }
            try rig.node(2).expectProgramFails("light-switch", "dim", exit: 2, saying: "Usage: light-switch on")
        }
    }

    /// Runs `light-switch watch` on these nodes while the body runs, which may ask for the lamps that a node shows.
    private func watching(
        _ numbers: ArraySlice<Int>, of rig: Rig, _ shown: [Int: () throws -> [String]] = [:],
        body: ((Int) throws -> [String: String]) throws -> Void
    ) throws {
        guard let number = numbers.first else {
            return try body { number in
                let lines = try shown[number]?() ?? []
                let words = lines.map { $0.components(separatedBy: " is ") }.filter { $0.count == 2 }
                return Dictionary(words.map { ($0[0], $0[1]) }, uniquingKeysWith: { _, last in last })
            }
        }
        try rig.node(number).following(["light-switch", "watch"]) { lines in
            try watching(numbers.dropFirst(), of: rig, shown.merging([number: lines]) { $1 }, body: body)
        }
    }
}
