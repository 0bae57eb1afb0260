import Foundation
import Testing

extension RigSuites.Stories {
    @Test func `who watches a collection sees each change as it comes, and goes on where he stopped`() throws {
        try StoryRig.tell { rig in
            let one = rig.node(1)
            try rig.node(2).printing(["watch", "bell", "--after", "0"]) { lines in
                try one.put("bell/door", ["rings": 1])
                try one.put("other/door", ["rings": 1])
                try eventually(within: .seconds(3), "the watcher sees the first ring") { try lines().count == 1 }
                try one.edit("bell/door", "rings=2")
                try eventually(within: .seconds(3), "the watcher sees the second ring") { try lines().count == 2 }
            }
            let position = try #require(
                try rig.node(2).printing(["watch", "bell", "--after", "0"]) { lines in
                    try eventually(within: .seconds(3), "who begins anew sees each object once") {
                        try lines().count == 1
                    }
                    return try lines()[0]["position"]
                })
            // While nobody watches one object changes twice, and one comes and goes.
            try one.put("bell/gate", ["rings": 1])
            try one.edit("bell/door", "rings=3")
            try one.edit("bell/door", "rings=4")
            #expect(try one.delete("bell/gate"))
            try rig.inStep()
            try rig.node(2).printing(["watch", "bell", "--after", position.line]) { lines in
                try eventually(within: .seconds(3), "two objects changed meanwhile") { try lines().count == 2 }
                #expect(try lines().map { $0["id"] } == ["door", "gate"])
                #expect(try lines().map { $0["deleted"] } == [false, true])
                #expect(try lines()[0]["fields"] == ["rings": 4])
            }
            try rig.expectEnding(in: "bell", "other")
        }
    }
}

extension Node {
    /// Runs `lanyard --json` with a command that goes on while the body runs, which may ask for the lines so far.
    func printing<Answer>(
        _ arguments: [String], body: (() throws -> [JSONValue]) throws -> Answer
    ) throws -> Answer {
        try following(["lanyard", "--json"] + arguments) { lines in
            try body { try lines().map { try decode(JSONValue.self, $0) } }
        }
    }

    /// Runs any command that goes on while the body runs, which may ask for the lines so far, empty ones too.
    func following<Answer>(
        _ command: [String], body: (@escaping () throws -> [String]) throws -> Answer
    ) throws -> Answer {
        let folder = try Shell.temporaryFolder()
        let output = folder.appending(path: "output")
        let errors = folder.appending(path: "errors")
        let process = try Shell.start(
            ["deploy/rig", "exec", "\(number)", "--"] + command, output: output, errors: errors,
            environment: Rig.environment, limitSeconds: nil)
        defer {
            process.terminate()
            process.waitUntilExit()
            try? FileManager.default.removeItem(at: folder)
        }
        return try body {
            // The last line may be half-written still.
            let lines = try Shell.text(of: output).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if !process.isRunning {
                throw RigError(
                    description: "\(command.joined(separator: " ")) on \(name) ended: \(try Shell.text(of: errors))")
            }
            return lines.map(String.init)
        }
    }
}
