import Testing

/// How long a test waits for something that must come. Far above what it takes, so only a fault reaches it.
let patience = Duration.seconds(120)

struct Overdue: Error, CustomStringConvertible {
    let what: String
    var description: String { "waited \(patience) for \(what)" }
}

/// `body`, or `Overdue` when it takes longer than `patience`.
func bounded<T: Sendable>(_ what: String, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
    try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: patience)
            throw Overdue(what: what)
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw Overdue(what: what) }
        return first
    }
}
