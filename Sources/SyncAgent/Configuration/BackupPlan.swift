/// Backups that the agent makes by itself: where to, how often, and how many are kept.
package struct BackupPlan: Sendable, Hashable, Codable {
    package static let usualEverySeconds: Int64 = 86_400
    package static let usualKeep = 7
    package static let everySeconds: ClosedRange<Int64> = 1...(365 * 86_400)
    package static let keep = 1...10_000

    /// An absolute path. The agent never makes the folder: a disk that is not there must not be mistaken for an empty one.
    package var directory: String
    package var everySeconds: Int64
    package var keep: Int

    package init(directory: String, everySeconds: Int64 = usualEverySeconds, keep: Int = usualKeep) {
        self.directory = directory
        self.everySeconds = everySeconds
        self.keep = keep
    }
}
