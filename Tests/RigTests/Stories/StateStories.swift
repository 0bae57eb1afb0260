import Testing

extension RigSuites {
    /// Machines that get the state of a space in place of its changes. Each story has a rig of its own.
    @Suite struct StateStories {
        @Test func `a newcomer takes the state of what was edited thousands of times, and goes on by changes`() throws {
            // Two that are together, so that every edit is sealed, and stays a change of its own.
            try Rig.with(2) { rig in
                let home = rig.node(1)
                let pad = String(repeating: "x", count: 900)
                let lines = (0..<6_000).map {
                    "{\"id\":\"\($0 % 5)\",\"count\":\($0),\"pad\":\"\($0)\(pad)\"}\n"
                }
                try home.lanyard("put", "counter", "-", "-q", input: lines.joined())
                try home.emit(50, to: "history")
                try rig.waitUntilAgree([1, 2], within: .seconds(20))
                let newcomer = try rig.add()
                try newcomer.join(through: home)
                try eventually(within: .seconds(20), "the newcomer shows what the others show") {
                    try newcomer.digest() == home.digest()
                }
                #expect(try newcomer.run(["lanyard", "logs"]).output.contains("State came in place of changes."))
                #expect(try newcomer.fields("counter/4")["count"] == 5_999)
                #expect(try newcomer.events("history").count == 50)
                try newcomer.put("counter/4", ["count": 7])
                try eventually(within: .seconds(5), "what it writes comes to the others") {
                    try home.fields("counter/4")["count"] == 7
                }
            }
        }

        @Test func `a newcomer that is killed while it takes state has all of it in the end`() throws {
            try Rig.with(2) { rig in
                let home = rig.node(1)
                let pad = String(repeating: "x", count: 400)
                for _ in 0..<4 {
                    let lines = (0..<3_000).map { "{\"id\":\"\($0)\",\"pad\":\"\(pad)\"}\n" }
                    try home.lanyard("put", "thing", "-", "--replace", "-q", input: lines.joined())
                    try home.lanyard(
                        "put", "thing", "-", "--replace", "-q",
                        input: (0..<3_000).map { "{\"id\":\"\($0)\",\"pad\":1}\n" }.joined())
                }
                try rig.waitUntilAgree([1, 2], within: .seconds(30))
                let newcomer = try rig.add()
                // So slow that there is a middle to be killed in.
                try rig("link", "\(newcomer.number)", "--rate", "10")
                try newcomer.join(through: home)
                for _ in 0..<3 {
                    silence(seconds: 1)
                    try rig("kill", "\(newcomer.number)")
                    try rig("start", "\(newcomer.number)")
                }
                try eventually(within: .seconds(120), "the newcomer shows what the others show") {
                    try newcomer.digest() == home.digest()
                }
            }
        }

        @Test func `a newcomer reads the newest before the rest is here`() throws {
            try Rig.with(2) { rig in
                let home = rig.node(1)
                for turn in 0..<8 {
                    let lines = (0..<4_000).map { number in
                        let pad = (0..<50).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
                        return "{\"id\":\"\(number)\",\"turn\":\(turn),\"pad\":\"\(pad)\"}\n"
                    }
                    try home.lanyard("put", "thing", "-", "--replace", "-q", input: lines.joined())
                }
                try rig.waitUntilAgree([1, 2], within: .seconds(30))
                let newcomer = try rig.add()
                // Half a minute for all of it, on a machine that takes seconds for a command.
                try rig("link", "\(newcomer.number)", "--rate", "0.7")
                try newcomer.join(through: home)
                try eventually(within: .seconds(60), "the newest object can be read") {
                    let newest = try newcomer.run(["lanyard", "get", "thing/3999", "--json"])
                    guard newest.status == 0 else { return false }
                    return try newcomer.decode(StoredObject.self, newest.output).fields["turn"] == 7
                }
                #expect(try !rig.agree([1, newcomer.number]))
                let refused = try newcomer.run(["lanyard", "put", "thing/3999", #"{"turn":5}"#, "--json"])
                #expect(refused.status != 0)
                #expect((refused.output + refused.errors).contains("catching_up"))
                try newcomer.put("thing/own", ["turn": 9])
                try rig("link", "\(newcomer.number)")
                try eventually(within: .seconds(60), "the newcomer has the rest, and the others what it began") {
                    try newcomer.digest() == home.digest() && home.fields("thing/own")["turn"] == 9
                }
                try newcomer.put("thing/3999", ["turn": 5])
            }
        }
    }
}
