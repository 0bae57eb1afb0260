import Testing

extension RigSuites {
    /// Attachments on three machines. One rig for all; each story has collections of its own, and leaves policies, quotas,
    /// cables and agents as it found them.
    @Suite(.rig(3)) struct AttachmentStories {}
}

extension Rig {
    /// The agents of these nodes start anew with options of lanyardd for the time of the body, and without them after it.
    func options(_ options: [String], on numbers: [Int], body: () throws -> Void) throws {
        func restart(_ arguments: [String]) throws {
            for number in numbers {
                try self("stop", "\(number)")
                try self(["start", "\(number)", "--"] + arguments)
            }
        }
        try restart(options)
        defer { _ = try? restart([]) }
        try body()
    }

    /// These nodes fetch only what somebody asks for while the body runs.
    func onDemand(_ numbers: [Int], body: () throws -> Void) throws {
        for number in numbers { try node(number).setFetch("on-demand") }
        defer { for number in numbers { _ = try? node(number).setFetch("all") } }
        try body()
    }
}
