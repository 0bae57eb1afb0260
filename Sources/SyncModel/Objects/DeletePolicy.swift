/// What a deletion does to edits that did not know of it. The DeletedObject carries the policy its author's schema had,
/// for ever. Ordered by strictness: of concurrent deletions the strictest judges.
package enum DeletePolicy: UInt64, Hashable, Sendable, Comparable, CaseIterable {
    /// One concurrent operation keeps the whole object.
    case updateWins = 1
    /// With a concurrent operation somebody has to decide; until then the object is hidden.
    case ask = 2
    /// The object stays if a concurrent operation has a greater (stamp, replica).
    case lastWriterWins = 3
    /// Concurrent edits are dropped and listed.
    case deleteWins = 4

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// As in a schema and in answers.
    package var name: String {
        switch self {
        case .updateWins: "updateWins"
        case .ask: "ask"
        case .lastWriterWins: "lastWriterWins"
        case .deleteWins: "deleteWins"
        }
    }

    package init?(name: String) {
        guard let policy = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = policy
    }
}
