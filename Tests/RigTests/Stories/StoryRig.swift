import Testing

/// One rig for all stories of a suite: bringing machines up costs more than a story does. Each story keeps to collections
/// of its own, and leaves the network whole and the clocks right.
struct StoryRig: SuiteTrait, TestScoping {
    @TaskLocal private static var current: Rig?
    static var isUp: Bool { current != nil }

    let nodes: Int
    let options: [String]

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let rig = Rig()
        try rig("down")
        defer { _ = try? rig("down") }
        try rig(["up", "\(nodes)"] + options)
        try await Self.$current.withValue(rig) { try await function() }
    }

    /// The machines of the story that is being told. Shows their logs when it ends before its time.
    static func tell(_ story: (Rig) throws -> Void) throws {
        guard let rig = current else { throw RigError(description: "this suite has no rig: give it the trait .rig(…)") }
        do {
            try story(rig)
        } catch {
            rig.recordLogs()
            throw error
        }
    }
}

extension Trait where Self == StoryRig {
    static func rig(_ nodes: Int, _ options: String...) -> Self { Self(nodes: nodes, options: options) }
}
