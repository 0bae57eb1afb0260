import SyncModel

// Which devices may have a session. Blocking is a decision that is made here, and holds here only. What a blocked device
// writes stays a part of the space, and comes through members that have not blocked it.
extension PeerNetwork {
    /// True if the device may have a session.
    func isTrusted(_ device: DeviceID) -> Bool {
        member(device).map { !$0.isBarred } ?? false && !isBlocked(device)
    }

    func isBlocked(_ device: DeviceID) -> Bool {
        blocked.contains(device) && !settings.faults.contains(.serveBlocked)
    }

    /// The devices that may connect, sorted, our own left out.
    var trusted: [DeviceID] {
        members.map(\.device).filter { $0 != settings.own && isTrusted($0) }
    }

    /// True if the device may open a session only to be told why it may not have one. What it says of the recovery key is
    /// taken: a thief may have revoked it.
    func isHeard(_ device: DeviceID) -> Bool {
        member(device).map(\.isBarred) ?? false && !isBlocked(device)
    }

    /// True if the device is to be told that this one deleted what it held: a session with it is for nothing else, unless it is
    /// a member here, too.
    func isAddressee(_ device: DeviceID) -> Bool { addressees.contains(device) && !isBlocked(device) }

    /// Records that a device has the receipt, if the session was one that brings it.
    mutating func recordReceiptTaken(_ session: PeerSession, _ output: inout StepOutput) {
        guard session.takesReceipts, addressees.remove(session.device) != nil else { return }
        output.emit(.wipeReceiptTaken(by: session.device))
        emitTrust(&output)
    }

    /// Takes the members of the spaces and tells the shell which of them may connect.
    mutating func trust(_ members: [NetworkMember], _ statements: [PlacedStatement], _ output: inout StepOutput) {
        update(members: members, statements: statements)
        emitTrust(&output)
    }

    func emitTrust(_ output: inout StepOutput) {
        let barred = members.map(\.device).filter { $0 != settings.own && isHeard($0) }
        let heard = barred + addressees.filter { isAddressee($0) && !isTrusted($0) && !isHeard($0) }.sorted()
        let served = settings.faults.contains(.serveBarred) ? (trusted + heard).sorted() : trusted
        output.emit(.trust(served, hearing: heard))
    }

    /// - Parameter devices: the complete list of blocked devices.
    mutating func handleBlocked(_ devices: [DeviceID], _ output: inout StepOutput) {
        let hasUnblocked = blocked.contains { !devices.contains($0) }
        blocked = devices.sorted()
        for index in sessions.indices where isBlocked(sessions[index].device) {
            close(index, .blocked, sayingGoodbye: false, &output)
        }
        emitTrust(&output)
        if hasUnblocked { wakeDials(at: output.now) }
    }
}
