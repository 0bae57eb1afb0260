import Foundation
import Testing

extension RigSuites {
    /// Pairing by typed codes, as two people at two machines do it.
    @Suite struct PairingTests {
        private struct Line: Decodable {
            struct Peer: Decodable {
                let name: String
                let shortID: String
            }
            let event: String
            let code: String?
            let peer: Peer?
            let name: String?
            let role: String?
        }

        private func pair(_ node: Node, _ arguments: String...) throws -> Terminal {
            try Terminal(node, ["lanyard", "pair", "--json"] + arguments)
        }

        private func line(_ event: String, of terminal: Terminal) throws -> Line? {
            try terminal.output.split(separator: "\n").map { try terminal.node.decode(Line.self, String($0)) }
                .first { $0.event == event }
        }

        /// Waits until the screen shows a code, and returns it with the peer that it names.
        private func code(
            of terminal: Terminal, within bound: Duration = .seconds(8),
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> (code: String, peer: String) {
            try eventually(within: bound, "\(terminal.node.name) shows its code", sourceLocation: sourceLocation) {
                try line("code", of: terminal) != nil
            }
            let shown = try #require(try line("code", of: terminal))
            return (try #require(shown.code), try #require(shown.peer).name)
        }

        private func message(_ outcome: Outcome) -> String {
            struct Answer: Decodable {
                struct Failure: Decodable {
                    let code: String
                    let message: String
                    let hint: String
                }
                let error: Failure
            }
            // The last error is the one that ended the command.
            let last = outcome.errors.split(separator: "\n").last ?? ""
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(last.utf8))
            return answer.map { "\($0.error.code): \($0.error.message) \($0.error.hint)" } ?? outcome.errors
        }

        @Test func `a machine that was added pairs by the codes typed at two terminals, and is in step at once`() throws
        {
            try Rig.with(2) { rig in
                try rig.node(1).emit(100, to: "before")
                let newcomer = try rig.add()
                let terminals = try [rig.node(1), newcomer].map {
                    try Terminal($0, ["lanyard", "pair"], isTeletype: true)
                }
                for terminal in terminals {
                    try eventually(within: .seconds(8), "\(terminal.node.name) asks for the code") {
                        terminal.output.contains("Code on the other screen: ")
                    }
                }
                let codes = try terminals.map { terminal in
                    let found = try #require(terminal.output.firstMatch(of: /Your code: (\d{3} \d{3})/))
                    return String(found.1)
                }
                #expect(codes[0] != codes[1])
                // Blanks in a code do not matter.
                try terminals[0].type(codes[1])
                try terminals[1].type(codes[0])
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(2))
                let outcomes = try terminals.map { try $0.end(within: .seconds(5)) }
                for (outcome, other) in zip(outcomes, ["node3", "node1"]) {
                    #expect(outcome.status == 0 && outcome.output.contains("Paired with \(other) ("), "\(outcome)")
                    #expect(outcome.output.contains("as writer") && outcome.output.contains("In step with"))
                    #expect(outcome.output.contains("Next: lanyard status"))
                }
                #expect(try newcomer.events("before").count == 100)
                try eventually(within: .seconds(20), "the third member hears of it") {
                    try rig.node(2).lanyard("devices").output.contains("node3")
                }
            }
        }

        @Test func `a wrong code ends it on both sides, and says so on both`() throws {
            try Rig.with(2, "--no-pair") { rig in
                let (one, other) = (try pair(rig.node(1)), try pair(rig.node(2)))
                let codes = (try code(of: one), try code(of: other))
                #expect(codes.0.peer == "node2" && codes.1.peer == "node1")
                // This screen's own code is a slip, and ends nothing; another code does.
                try one.type(codes.0.code)
                try eventually(within: .seconds(3), "the slip is said") {
                    one.errors.contains("That is the code of this screen")
                }
                let wrong = codes.1.code == "000000" || codes.0.code == "000000" ? "000001" : "000000"
                try one.type(wrong)
                let (here, there) = (try one.end(within: .seconds(5)), try other.end(within: .seconds(5)))
                #expect(
                    here.status == 4
                        && message(here).contains("wrong_code: That is not the code on the screen of node2 ("))
                #expect(there.status == 4 && message(there).contains("wrong_code: A wrong code was typed on node1 ("))
                for number in 1...2 { #expect(try rig.node(number).status().peers.paired == 0) }
                // New codes, at once.
                let again = (try pair(rig.node(1)), try pair(rig.node(2)))
                let newCodes = (try code(of: again.0), try code(of: again.1))
                try again.0.type(newCodes.1.code)
                try again.1.type(newCodes.0.code)
                #expect(try again.0.end(within: .seconds(5)).status == 0)
                #expect(try again.1.end(within: .seconds(5)).status == 0)
            }
        }

        @Test func `Ctrl-C, a plug pulled and two pairings at once each end in a sentence`() throws {
            try Rig.with(2, "--no-pair") { rig in
                let (one, other) = (try pair(rig.node(1)), try pair(rig.node(2)))
                _ = try code(of: other)
                let second = try pair(rig.node(1)).end(within: .seconds(5))
                #expect(second.status == 4 && message(second).contains("already_pairing"))
                one.interrupt()
                let stopped = try other.end(within: .seconds(5))
                #expect(stopped.status == 4 && message(stopped).contains("Pairing was stopped on node1 ("))
                #expect(message(try one.end(within: .seconds(5))).contains("cancelled: Pairing was stopped"))

                let torn = (try pair(rig.node(1)), try pair(rig.node(2)))
                _ = try code(of: torn.0)
                try rig("kill", "2")
                let broken = try torn.0.end(within: .seconds(20))
                #expect(broken.status == 4 && message(broken).contains("The connection to node2 ("))
                let gone = message(try torn.1.end(within: .seconds(5)))
                #expect(gone.contains("connection_lost"), "\(gone)")
            }
        }

        @Test(.enabled(if: Rig.isLong, "takes two minutes: LANYARD_LONG_TESTS=1"))
        func `alone it says after two minutes what is missing`() throws {
            try Rig.with(1) { rig in
                let outcome = try pair(rig.node(1)).end(within: .seconds(125))
                #expect(outcome.status == 6 && message(outcome).contains("timed_out: No pairing within 120 seconds"))
                #expect(message(outcome).contains("on the other device"))
            }
        }

        @Test func `of three machines that pair at once, two choose each other`() throws {
            try Rig.with(3, "--no-pair") { rig in
                let terminals = try threeThatAsk(rig)
                try terminals[0].type("node3")
                try terminals[2].type("node1")
                let codes = (try code(of: terminals[0]), try code(of: terminals[2]))
                try terminals[0].type(codes.1.code)
                try terminals[2].type(codes.0.code)
                #expect(try terminals[0].end(within: .seconds(5)).status == 0)
                #expect(try terminals[2].end(within: .seconds(5)).status == 0)
                terminals[1].interrupt()
                #expect(try rig.node(2).status().peers.paired == 0)
            }
        }

        /// Terminals on all three nodes, which ask which one. A second after a device was found it is chosen by itself
        /// if it is the only one: where the third command takes longer to start than that, all begin anew.
        private func threeThatAsk(_ rig: Rig) throws -> [Terminal] {
            for _ in 1...5 {
                let terminals = try (1...3).map { try pair(rig.node($0)) }
                let isAsked = try holds(within: .seconds(15)) {
                    try terminals.allSatisfy { try line("choose", of: $0) != nil }
                }
                if isAsked { return terminals }
                for terminal in terminals { terminal.interrupt() }
                for terminal in terminals { _ = try terminal.end(within: .seconds(30)) }
            }
            throw RigError(description: "three commands were never started within a second")
        }

        @Test func `without mDNS the address of one side is enough`() throws {
            try Rig.with(2, "--no-pair", "--no-mdns") { rig in
                let (one, other) = (try pair(rig.node(1), "\(rig.node(2).address)"), try pair(rig.node(2)))
                let codes = (try code(of: one), try code(of: other))
                try one.type(codes.1.code)
                try other.type(codes.0.code)
                #expect(try one.end(within: .seconds(5)).status == 0)
                #expect(try other.end(within: .seconds(5)).status == 0)
                try rig.waitUntilAgree([1, 2], within: .seconds(2))
            }
        }

        /// Node 3 runs an agent towards each side, under the name of the other one, while the two do not see each other. The
        /// people read each other's screens, and the relay knows everything that its own screens show.
        @Test func `a relay in the middle, under the right names, ends in a wrong code on both sides`() throws {
            try Rig.with(3, "--no-pair") { rig in
                try rig("cut", "1", "2")
                try rig("stop", "3")
                let folder = try Shell.temporaryFolder()
                defer { try? FileManager.default.removeItem(at: folder) }
                let faces = try ["node2", "node1"].enumerated().map { number, name in
                    try Face(rig.node(3), name, port: 21_900 + number, folder: folder.appending(path: name))
                }
                defer { withExtendedLifetime(faces) {} }
                // Each face pairs with one side, by its address.
                let relays = try zip(faces, 1...2).map { face, side in
                    try Terminal(
                        rig.node(3),
                        [
                            "lanyard", "pair", "--socket", face.socket, "--json",
                            "\(rig.node(side).address):21817",
                        ])
                }
                let victims = try (1...2).map { try pair(rig.node($0), $0 == 1 ? "node2" : "node1") }
                let codes = try victims.map { try code(of: $0) }
                #expect(codes.map(\.peer) == ["node2", "node1"], "the names are as they should be")
                for (relay, code) in zip(relays, codes) { try relay.type(code.code) }
                try victims[0].type(codes[1].code)
                try victims[1].type(codes[0].code)
                for victim in victims {
                    let outcome = try victim.end(within: .seconds(5))
                    #expect(outcome.status == 4 && message(outcome).contains("wrong_code"), "\(message(outcome))")
                    #expect(message(outcome).contains("another machine stands between"))
                }
                for number in 1...2 { #expect(try rig.node(number).status().peers.paired == 0) }
            }
        }

        /// An agent of the relay.
        private final class Face {
            let socket: String
            private let agent: Terminal

            init(_ node: Node, _ name: String, port: Int, folder: URL) throws {
                let socket = folder.appending(path: "control.sock").path
                self.socket = socket
                agent = try Terminal(
                    node,
                    [
                        "lanyardd", "--data-dir", folder.path, "--socket", socket, "--name", name, "--listen",
                        "\(node.address):\(port)",
                        "--no-mdns", "--until-input-ends",
                    ])
                try eventually(within: .seconds(10), "the relay's \(name) runs") {
                    try node.run(["lanyard", "status", "--socket", socket, "--json"]).status == 0
                }
            }
        }
    }
}
