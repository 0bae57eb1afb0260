/// The kinds of worlds that one seed can be run in. Each draws what only it has from a stream of chance of its own.
package enum WorldKind: Sendable, Hashable {
    case plain
    /// Nodes of two versions, with upgrades.
    case mixed
    /// Members with roles, admins that change them, and often a thief.
    case thieves
    /// Machines that are put back while they run, and write on.
    case reverted

    /// The worlds in a hundred that may end without agreement, if each member that differs says why.
    package var standstillsPercent: Int {
        switch self {
        case .plain, .mixed: 0
        case .thieves: 1
        // A device that builds on a history which then has to give way is not as rare here as elsewhere.
        case .reverted: 2
        }
    }

    /// The worlds in a hundred that may end so beside those, because nodes exchange states there: nothing of a state can be taken back.
    package var standstillsBesideStatesPercent: Int { self == .reverted ? 3 : 0 }
}
