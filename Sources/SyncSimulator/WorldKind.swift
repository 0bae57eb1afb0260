/// The kinds of worlds that one seed can be run in. Each draws what only it has from a stream of chance of its own.
package enum WorldKind: Sendable, Hashable {
    case plain
    /// Nodes of two versions, with upgrades.
    case mixed
    /// Members with roles, admins that change them, and often a thief.
    case thieves
}
