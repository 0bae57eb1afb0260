import Foundation
import Testing

/// One machine of the rig, spoken to with the commands that somebody sitting at it would type.
struct Node {
    let rig: Rig
    let number: Int

    var address: String { "10.77.0.\(number)" }
    var name: String { "node\(number)" }

    /// Runs any command on the node, whatever its end.
    func run(_ command: [String], input: String? = nil) throws -> Outcome {
        try rig.attempt(["exec", "\(number)", "--"] + command, input: input)
    }

    /// Runs `lanyard`, which has to succeed.
    @discardableResult
    func lanyard(_ arguments: String..., input: String? = nil) throws -> Outcome {
        try lanyard(arguments, input: input)
    }

    @discardableResult
    func lanyard(_ arguments: [String], input: String? = nil) throws -> Outcome {
        let outcome = try run(["lanyard"] + arguments, input: input)
        guard outcome.status == 0 else {
            throw RigError(
                description:
                    "lanyard \(arguments.joined(separator: " ")) on \(name) ended with \(outcome.status): \(outcome.errors)"
            )
        }
        return outcome
    }

    func status() throws -> Status { try decode(Status.self, try lanyard("status", "--json").output) }
    func peers() throws -> [Peer] { try decode([Peer].self, try lanyard("peers", "--json").output) }
    func why(_ subject: String...) throws -> Why {
        // An answer that names a broken link may come with any exit code; what counts is what it says.
        try decode(Why.self, try run(["lanyard", "why", "--json"] + subject).output)
    }

    func digest() throws -> String {
        guard let home = try status().spaces.first(where: { $0.name == "home" }) else {
            throw RigError(description: "\(name) has no space 'home'")
        }
        return home.digest
    }

    /// The names of the members this node holds a session with.
    func connected() throws -> [String] {
        try peers().filter { $0.state == "connected" }.compactMap(\.name).sorted()
    }

    /// Emits so many events, each its own change, and returns when all are acknowledged.
    func emit(_ count: Int, to stream: String) throws {
        let lines = (1...count).map { "{\"from\":\"\(name)\",\"number\":\($0)}\n" }.joined()
        let answer = try decode(Emitted.self, try lanyard("emit", stream, "-", "--json", input: lines).output)
        try #require(answer.count == count)
    }

    func events(_ stream: String) throws -> [StreamEvent] {
        try lanyard("events", stream, "--json").lines.map { try decode(StreamEvent.self, $0) }
    }

    /// Becomes a member with a one-time ticket of another node.
    func join(through host: Node) throws {
        try lanyard("join", "-", input: try host.ticket() + "\n")
    }

    func ticket() throws -> String {
        try decode(Ticket.self, try lanyard("invite", "--json").output).ticket
    }

    /// The TCP bytes of this node since `countTraffic`, both ways, with IP headers: its sessions and nothing else, since
    /// the rest of the rig speaks UDP.
    func trafficBytes() throws -> Int {
        let outcome = try run(["nft", "-j", "list", "counters"])
        struct Answer: Decodable {
            struct Entry: Decodable {
                struct Counter: Decodable { let bytes: Int }
                let counter: Counter?
            }
            let nftables: [Entry]
        }
        return try decode(Answer.self, outcome.output).nftables.compactMap(\.counter?.bytes).reduce(0, +)
    }

    func countTraffic() throws {
        let rules = """
            table inet traffic {
                counter sessions { }
                chain in { type filter hook input priority 0; meta l4proto tcp iifname "eth0" counter name sessions; }
                chain out { type filter hook output priority 0; meta l4proto tcp oifname "eth0" counter name sessions; }
            }
            """
        let outcome = try run(["nft", "-f", "-"], input: rules)
        guard outcome.status == 0 else { throw RigError(description: "nft on \(name): \(outcome.errors)") }
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw RigError(description: "\(name) answered something else than \(type): \(text.prefix(300)) (\(error))")
        }
    }
}

extension Rig {
    /// True when all these nodes hold the same, by their own word.
    func agree(_ numbers: [Int]) throws -> Bool {
        Set(try ask(numbers) { try $0.digest() }).count == 1
    }

    @discardableResult
    func waitUntilAgree(
        _ numbers: [Int], within bound: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Duration {
        let names = numbers.map(String.init).joined(separator: ", ")
        return try eventually(
            within: bound, "nodes \(names) have equal digests", sourceLocation: sourceLocation
        ) { try agree(numbers) }
    }
}
