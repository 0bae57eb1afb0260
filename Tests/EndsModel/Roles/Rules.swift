extension Roles {
    /// Which rules hold: those that stand, those before the model mended them, or those that stand with one planted bug.
    package struct Rules: Hashable, Sendable {
        /// Line 9 counts only acknowledgements that do not know the fact. (Without: a void operation comes to life when the
        /// author of a revocation acknowledges that it holds it.)
        package var ignoresKnowingAcknowledgements = true
        /// Line 9 gives a newcomer its inviters' acknowledgements. (Without: an admin that was admitted later undoes what
        /// all members had acknowledged and forgotten.)
        package var newcomersInherit = true
        /// A newcomer inherits also from those that admitted its inviters, and what line 9 gives the key where the key admitted.
        /// (Without: the key on a device that acknowledged nothing admits an admin, which undoes what all members had
        /// acknowledged and forgotten; or such an admin's newcomer does.)
        package var newcomersInheritFromAll = true
        /// In line 4 a recovery role fact about a device removes no revocation of that device. (Without: the device is back when
        /// its accuser was admitted by itself, too.)
        package var loweringsRemoveNoRevocation = true
        /// In line 11 a recovery revocation, too, hides role facts that do not know it. (Without: revoking an admin raises a
        /// device that the admin had lowered unaware of the key.)
        package var recoveryRevocationsHide = true
        /// The simpler rules of the agent: no acknowledgements, and adds are judged without their past.
        package var isAgent = false
        package var bug: PlantedBug?

        package init() {}

        /// The rules that stand.
        package static let standing = Rules()
        /// The rules as they were when an independent model in Python judged the fixture.
        package static let beforeMends = {
            var rules = Rules()
            rules.ignoresKnowingAcknowledgements = false
            rules.newcomersInherit = false
            rules.newcomersInheritFromAll = false
            rules.loweringsRemoveNoRevocation = false
            rules.recoveryRevocationsHide = false
            return rules
        }()
        package static let agent = {
            var rules = Rules()
            rules.isAgent = true
            return rules
        }()
        package static func planted(_ bug: PlantedBug, in rules: Rules = .standing) -> Rules {
            var rules = rules
            rules.bug = bug
            return rules
        }
    }

    /// A rule broken on purpose, so that a check can be seen to fail.
    package enum PlantedBug: String, CaseIterable, Sendable {
        /// Two devices revoke each other; the elder one's revocation holds.
        case elderWins
        /// One pass in the order of arrival: a revocation beyond an end is dropped at once.
        case firstHeardWins
        /// Of several adds the least role holds.
        case leastAddHolds
        /// A recovery fact counts like an admin's.
        case recoveryIsEqual
        /// Line 7 forgets the end: an accomplice that was admitted beyond it counts.
        case accompliceCounts
        /// A replica that a revocation does not name stays open.
        case skipsStrictEnd
        /// A re-admission undoes a revocation that it does not know.
        case readmitsUnknowing
        /// A lowered role ends everything of its device.
        case loweringEndsAll
        /// Line 1 forgets that the fact may be void in its own past.
        case voidFactsMay
        /// The acknowledgements raise no end.
        case noFloor
        /// Whoever founded something is an admin everywhere.
        case foundersKeepPower
        /// Facts name no founding: those of one space count in the other.
        case homesMix
        /// An admin ends a founding that has a recovery key.
        case adminEndsKey
        /// Of several yields of one founding each device follows the one it finds last.
        case lastYieldHolds
        /// For the agent's rules: no end for what a reader wrote.
        case readersWrite

        /// Bugs that a check finds in histories by chance.
        package static func inHistories(of rules: Rules) -> [PlantedBug] {
            allCases.filter { !$0.isOfFounding && ($0 != .readersWrite || rules.isAgent) }
        }

        /// Bugs that the check of foundings finds.
        package var isOfFounding: Bool {
            [.foundersKeepPower, .homesMix, .adminEndsKey, .lastYieldHolds].contains(self)
        }
    }
}
