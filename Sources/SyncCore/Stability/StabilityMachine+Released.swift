import SyncModel

// Which devices no member waits for.
extension StabilityMachine {
    /// Returns the devices that no member waits for: their cut is settled, so it holds whatever they write about the remaining
    /// members, and every remaining member has acknowledged it. Until then one of them may still write on what such a device
    /// did beyond its end, and so keep it.
    func releasedDevices(_ log: SpaceLog) -> [DeviceID] {
        let cuts = log.cuts
        let away = cuts.away.filter { $0 != settings.own }
        guard !away.isEmpty else { return [] }
        if settings.faults.contains(.releaseBeforeAcknowledged) { return away }
        return away.filter { device in
            if cuts.isBarred(device) { return haveAllHeard(of: barring(device, cuts), log) }
            let holding = cuts.cuts(holdingAway: device)
            // This includes devices that only a void fact admitted: a cut that makes this one void would make that fact count
            // again.
            return holding.contains { cuts.isSettled($0.dot) } && haveAllHeard(of: holding.map(\.dot), log)
        }
    }

    /// Returns the retirements or statements that keep the device away.
    func keepingAway(_ device: DeviceID, _ cuts: CutTable) -> [Dot] {
        cuts.isBarred(device) ? barring(device, cuts) : cuts.cuts(holdingAway: device).map(\.dot)
    }

    /// Returns the statements that may have barred the device: the one that revoked it, or, where only void facts admitted it,
    /// all.
    private func barring(_ device: DeviceID, _ cuts: CutTable) -> [Dot] {
        cuts.revocation(of: device).map { [$0.dot] } ?? cuts.trust.rows.map(\.dot)
    }

    /// True if every remaining member has acknowledged these cuts or statements.
    func haveAllHeard(of cuts: [Dot], _ log: SpaceLog) -> Bool {
        log.remainingDevices.allSatisfy { hasHeard($0, of: cuts) }
    }

    /// True if the member has acknowledged these cuts or statements.
    func hasHeard(_ member: DeviceID, of cuts: [Dot]) -> Bool {
        guard let counted = counted(of: member) else { return false }
        return cuts.allSatisfy(counted.covers)
    }
}

extension SpaceLog {
    /// The members that no cut keeps away.
    var remainingDevices: [DeviceID] { membership.members.map(\.device).filter { !cuts.isAway($0) } }
}
