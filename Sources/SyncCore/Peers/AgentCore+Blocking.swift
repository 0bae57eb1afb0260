package import SyncModel

// Devices that this node has nothing to do with: a decision that is made here, and holds here only. What such a device writes
// stays a part of the space, and comes through members that have not blocked it.
extension AgentCore {
    /// True if the device may have a session.
    func isTrusted(_ device: DeviceID) -> Bool {
        membership[device] != nil && !cuts.isBarred(device) && !isBlocked(device)
    }

    package func isBlocked(_ device: DeviceID) -> Bool {
        blocked.contains(device) && !configuration.faults.contains(.serveBlocked)
    }

    /// - Parameter devices: the complete list of blocked devices.
    mutating func handleBlocked(_ devices: [DeviceID]) {
        let hasUnblocked = blocked.contains { !devices.contains($0) }
        blocked = devices.sorted()
        for index in sessions.indices where isBlocked(sessions[index].device) {
            close(index, .blocked, sayingGoodbye: false)
        }
        trustMembers()
        if hasUnblocked { wakeDials() }
    }
}
