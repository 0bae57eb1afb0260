/// The effect of a deletion on edits that did not know of it.
///
/// The DeletedObject carries the policy of its author's schema, for ever. Policies are ordered by strictness: of concurrent
/// deletions the strictest judges.
package enum DeletePolicy: UInt64, Hashable, Sendable, Comparable, CaseIterable {
    /// A single concurrent operation keeps the whole object.
    case updateWins = 1
    /// A concurrent operation hides the object until a user decides.
    case ask = 2
    /// The object stays if a concurrent operation has a greater (stamp, replica).
    case lastWriterWins = 3
    /// Concurrent edits are dropped and listed.
    case deleteWins = 4

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The policy's name in a schema and in answers.
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
