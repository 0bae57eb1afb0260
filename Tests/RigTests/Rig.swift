import Foundation
import Testing

/// Several nodes, through `deploy/rig` as a person would use it. Numbered from 1.
struct Rig {
    /// `RIG=other` lets two checkouts test on one machine at the same time.
    static let name = ProcessInfo.processInfo.environment["RIG"] ?? "test"
    static let isWanted = ProcessInfo.processInfo.environment["LANYARD_RIG_TESTS"] == "1"
    static let isLong = !(ProcessInfo.processInfo.environment["LANYARD_LONG_TESTS"] ?? "").isEmpty

    /// Brings nodes up, lets the test work with them, and removes them however the test ends.
    static func with(_ nodes: Int, _ options: String..., body: (Rig) throws -> Void) throws {
        if StoryRig.isUp {
            throw RigError(description: "the suite has a rig: a test of it that brings up another ends that one")
        }
        let rig = Rig()
        _ = try rig("down")
        defer { _ = try? Shell.run(["deploy/rig", "down"], environment: environment) }
        _ = try rig(["up", "\(nodes)"] + options)
        do {
            try body(rig)
        } catch {
            rig.recordLogs()
            throw error
        }
    }

    /// A start of an agent takes as long as a busy machine wants.
    static let environment = ["RIG": name, "RIG_TIMEOUT": "60"]

    /// One `deploy/rig` command that has to succeed.
    @discardableResult
    func callAsFunction(_ arguments: String...) throws -> Outcome { try self(arguments) }

    @discardableResult
    func callAsFunction(_ arguments: [String]) throws -> Outcome {
        let outcome = try attempt(arguments)
        guard outcome.status == 0 else {
            throw RigError(
                description:
                    "deploy/rig \(arguments.joined(separator: " ")) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome
    }

    func attempt(_ arguments: [String], input: String? = nil) throws -> Outcome {
        try Shell.run(["deploy/rig"] + arguments, input: input, environment: Rig.environment)
    }

    func node(_ number: Int) -> Node { Node(rig: self, number: number) }

    /// Adds a node that is not paired.
    func add(_ options: String...) throws -> Node {
        let text = try self(["add"] + options).output.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let number = Int(text) else { throw RigError(description: "deploy/rig add printed '\(text)'") }
        return node(number)
    }

    /// What a reader of a failed run wants to see first.
    func recordLogs() {
        guard let list = try? attempt(["list"]), list.status == 0 else { return }
        print(list.output)
        for number in 1..<max(1, list.lines.count) {
            guard let log = try? attempt(["log", "\(number)"]) else { continue }
            for line in log.lines.suffix(15) { print("    node \(number): \(line)") }
        }
    }
}

/// Polls until the condition holds and says how long that took; fails the test when it does not within the bound.
@discardableResult
func eventually(
    within bound: Duration, _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) throws -> Duration {
    let begun = ContinuousClock.now
    let isSo = try holds(within: bound, condition)
    let elapsed = ContinuousClock.now - begun
    guard isSo else {
        Issue.record("not within \(milliseconds(bound)) ms: \(sentence)", sourceLocation: sourceLocation)
        throw RigError(description: "gave up waiting: \(sentence)")
    }
    print("    \(sentence): after \(milliseconds(elapsed)) ms (bound \(milliseconds(bound)) ms)")
    return elapsed
}

/// Polls until the condition holds; false when no look that began within the bound found it so.
///
/// A look starts commands and so takes what others have to run in. The longer the wait, the longer the pauses: a fortieth of it, so
/// that what is measured is right within that.
func holds(within bound: Duration, _ condition: () throws -> Bool) throws -> Bool {
    let begun = ContinuousClock.now
    while true {
        if try condition() { return true }
        let elapsed = ContinuousClock.now - begun
        if elapsed > bound { return false }
        Thread.sleep(forTimeInterval: min(max(elapsed / .seconds(40), 0.01), 0.25, (bound - elapsed) / .seconds(1)))
    }
}

/// Lets time pass in which nobody does anything: for scenarios whose subject is silence.
func silence(seconds: Int) {
    Thread.sleep(forTimeInterval: Double(seconds))
}

func milliseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
}
