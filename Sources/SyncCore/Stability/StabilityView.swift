package import SyncModel

/// The stable vector here and the members that hold it back, for `status` and the simulator's checkers.
package struct StabilityView: Sendable, Equatable {
    package let stable: VersionVector
    /// The members that hold stability back, sorted by device.
    package let heldBackBy: [Member]

    /// A member that has not yet acknowledged what we have.
    package struct Member: Sendable, Equatable {
        package let device: DeviceID
        package let name: String
        /// The start of what the member has not acknowledged, by replica; never empty.
        package let missing: [VersionVector.Entry]

        package init(device: DeviceID, name: String, missing: [VersionVector.Entry]) {
            self.device = device
            self.name = name
            self.missing = missing
        }
    }

    package init(stable: VersionVector, heldBackBy: [Member]) {
        self.stable = stable
        self.heldBackBy = heldBackBy
    }
}

extension SpaceMachine {
    /// The view, measured against what is held, also while no session is up. A new change counts as missing at once; its age
    /// tells the reader that no member is late with it.
    var stabilityView: StabilityView {
        let ours = held.vector()
        let others = membership.members.filter { $0.device != settings.own && !cuts.isAway($0.device) }
        let members = others.compactMap { member in
            let theirs = stability.counted(of: member.device) ?? VersionVector()
            let missing = ours.entries(beyond: theirs).map {
                VersionVector.Entry(replica: $0.replica, next: theirs.next(of: $0.replica))
            }
            let name = member.fact.name
            return missing.isEmpty
                ? nil : StabilityView.Member(device: member.device, name: name, missing: missing)
        }
        return StabilityView(stable: stable, heldBackBy: members)
    }
}
