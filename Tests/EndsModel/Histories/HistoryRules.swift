extension Histories {
    /// The rules that hold: those that stand, or those with some switched off or broken on purpose.
    package struct Rules: Hashable, Sendable {
        package var without: Set<Rule> = []
        package var bug: PlantedBug?

        package init(without: Set<Rule> = [], bug: PlantedBug? = nil) {
            self.without = without
            self.bug = bug
        }

        package static let standing = Rules()

        func has(_ rule: Rule) -> Bool { !without.contains(rule) }
    }

    /// Rules that the first draft of the page lacked. Each has a history that needs it.
    package enum Rule: String, CaseIterable, Sendable {
        /// An acknowledgement names heads. (Without: counters, which two branches share.)
        case headsInAcknowledgements
        /// A release counts though its author was let go since.
        case releasesOfTheGone
        /// Of several writings of one work one counts.
        case oneWriting
        /// Own work that hangs from own work that goes is written again, under whatever replica it was.
        case hangingWorkAgain
        /// A state is taken whole only from a node that has all of ours.
        case wholeFromCovering
        /// A node that meets its own `bound` without knowing it acts as a device that returns.
        case forgottenBounds
        /// Devices that only the devices let go had admitted, unknown to all that promised, are not waited for.
        case guestsGoToo
        /// A device that came back counts in a majority as a newcomer does: all devices to let go have acknowledged its
        /// return.
        case returnsAreNewcomers
        /// `bound` only without changes beyond the ends; `release` otherwise.
        case boundChecks
        /// After `bound` a member may promise a proposal that names all members whose `bound` it lacks.
        case boundPromises
    }

    /// A rule broken on purpose, so that a check can be seen to fail.
    package enum PlantedBug: String, CaseIterable, Sendable {
        /// `retire` without counting the majority again.
        case noSecondMajority
        /// Changes of the devices that a proposal names are taken from these devices, and `bound` looks at no ends.
        case takesFromProposed
        /// What a `retire` names is void before all are bound.
        case voidBeforeBound
        /// A fork with several branches ends at the last signature that a node has in common, not at the last change.
        case endsAtSignature
        /// A context is read as it stands, beyond ends as well.
        case noClamp
        /// Proofs of what all acknowledged raise no end.
        case noFloorProof
        case ignoresReleases
        /// Each writing of one work counts.
        case countsBothWritings
        /// A returning device does not show its tail.
        case hidesTail
    }
}
