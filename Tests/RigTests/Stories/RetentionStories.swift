import Foundation
import Testing

extension RigSuites {
    /// Events that their stream keeps for some time. A rig of its own, of agents that keep no history.
    @Suite struct RetentionStories {
        private struct Kept: Decodable {
            let name: String
            let events: Int
            let begins: String?
        }

        private func kept(_ stream: String, at node: Node) throws -> Kept? {
            try node.decode([Kept].self, try node.lanyard("streams", "--json").output).first { $0.name == stream }
        }

        @Test func `events go everywhere once everybody has them, and a newcomer never hears of them`() throws {
            try Rig.with(3) { rig in
                let nodes = (1...3).map { rig.node($0) }
                for node in nodes {
                    try rig("stop", "\(node.number)")
                    try rig("start", "\(node.number)", "--", "--keep-history", "0s")
                }
                let home = nodes[0]
                try home.emit(40, to: "readings")
                try nodes[1].emit(20, to: "readings")
                try home.emit(5, to: "history")
                try home.lanyard("streams", "set", "lights", "--latest-only")
                for value in ["on", "off", "on"] { try home.lanyard("emit", "lights", "door", "\"\(value)\"", "-q") }
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(20))

                // The power goes where it is said, as soon as one of the others has heard of it.
                try home.lanyard("streams", "set", "readings", "--retain", "1s")
                try rig.waitUntilAgree([1, 2], within: .seconds(20))
                try rig("kill", "1")
                try rig("start", "1")
                try eventually(within: .seconds(240), "all have acknowledged the events, and they are gone") {
                    try nodes[2].lanyard("compact")
                    return try nodes.allSatisfy { try kept("readings", at: $0)?.events == 0 }
                }
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(20))
                for node in nodes {
                    #expect(try node.events("readings").isEmpty)
                    #expect(try node.events("history").count == 5)
                    #expect(try kept("lights", at: node)?.events == 1)
                    try node.lanyard("doctor", "--deep")
                }

                try home.emit(3, to: "readings")
                let told = try home.lanyard("events", "readings")
                #expect(told.output.split(separator: "\n").count == 3)
                #expect(told.errors.contains("were dropped: readings keeps all for 1 s"), "\(told.errors)")
                #expect(try kept("readings", at: home)?.begins != nil)

                let newcomer = try rig.add()
                try newcomer.join(through: nodes[1])
                try rig.waitUntilAgree([1, 2, 3, newcomer.number], within: .seconds(30))
                #expect(try newcomer.events("history").count == 5)
                #expect(try newcomer.events("readings").count <= 3)
                // As a member it is waited for; then the last ones go, too.
                try eventually(within: .seconds(240), "it has acknowledged the rest") {
                    try home.lanyard("compact")
                    return try (nodes + [newcomer]).allSatisfy { try kept("readings", at: $0)?.events == 0 }
                }
                try rig.waitUntilAgree([1, 2, 3, newcomer.number], within: .seconds(20))
            }
        }
    }
}
