import Testing

/// What an agent holds of memory, in KiB: now, and at most since `forgetPeak`.
struct AgentMemory {
    let resident: Int
    let peak: Int
}

extension Node {
    /// As /proc has it, of the agent that runs now.
    func agentMemory() throws -> AgentMemory {
        let status = try output("cat /proc/$(pgrep -o -x lanyardd)/status")
        func field(_ name: String) throws -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            guard let value = Int(line.dropFirst(name.count).filter(\.isNumber)) else {
                throw RigError(description: "no \(name) of the agent on \(self.name)")
            }
            return value
        }
        return AgentMemory(resident: try field("VmRSS:"), peak: try field("VmHWM:"))
    }

    /// From now on the peak counts anew (proc(5), clear_refs).
    func forgetPeak() throws { try shell("echo 5 >/proc/$(pgrep -o -x lanyardd)/clear_refs") }
}

/// What agents hold before some work, so that it can be said what the work took.
struct MemoryWatch {
    private let rig: Rig
    private let before: [Int: Int]

    /// - Throws: when one of the agents does not run.
    init(_ rig: Rig, _ numbers: [Int]) throws {
        var before: [Int: Int] = [:]
        for number in numbers {
            try rig.node(number).forgetPeak()
            before[number] = try rig.node(number).agentMemory().resident
        }
        (self.rig, self.before) = (rig, before)
    }

    /// No agent held more at any moment than it did before and `bytes`.
    func expectGrowth(atMost bytes: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for (number, before) in before.sorted(by: { $0.key < $1.key }) {
            let growth = try rig.node(number).agentMemory().peak - before
            print("    node \(number) held \(before) KiB, and \(growth) more at its peak (bound \(bytes >> 10))")
            #expect(growth <= bytes >> 10, "node \(number)", sourceLocation: sourceLocation)
        }
    }
}
