import SyncModel
import SyncStore

/// The store of a member in the end of a world of thieves.
package struct ThievesEnding {
    let node: Int
    let state: LogState
    /// The dots of all events that are shown.
    let events: [Dot]
    /// The honest devices whose roles no honest admin changed.
    let steady: [DeviceID]
    /// False if the world does not come to rest: members may judge roles by other facts then.
    let isAtRest: Bool
    /// The thief and its accomplice; none if nothing was stolen.
    let thieves: [DeviceID]

    init(node: Int, _ store: SQLiteStore, steady: [DeviceID], thieves: [DeviceID], isAtRest: Bool) throws(StoreError) {
        self.node = node
        self.steady = steady
        self.thieves = thieves
        self.isAtRest = isAtRest
        state = try store.logState()
        var events: [Dot] = []
        for stream in try store.streams(of: .home) {
            let query = EventQuery(
                space: .home, stream: stream.name, order: .arrival(after: 0), limit: .max, byteBudget: .max)
            events += try store.events(query).map(\.dot)
        }
        self.events = events
    }

    func isRevokedByKey(_ device: DeviceID) -> Bool {
        state.cuts.trust.rows.contains {
            $0.statement.isRecovery && $0.statement.isRevocation && $0.statement.device == device
        }
    }

    /// True if the author let the device in before all that its revocation names as its end.
    static func hasAdmitted(_ author: DeviceID, _ device: DeviceID, _ state: LogState) -> Bool {
        state.members.additions.contains { addition in
            addition.device == device && addition.dot.replica.device == author
                && addition.dot.counter < namedEnd(of: addition.dot.replica, state.cuts)
        }
    }

    /// The end that the revocation of the replica's device names; none if it is not revoked.
    static func namedEnd(of replica: ReplicaID, _ cuts: CutTable) -> UInt64 {
        guard let revocation = cuts.revocation(of: replica.device) else { return .max }
        return revocation.statement.ends.first { $0.incarnation == replica.incarnation }?.end ?? 0
    }
}
