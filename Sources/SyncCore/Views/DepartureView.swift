package import SyncModel

/// A device that was retired or revoked, with the remaining members that have acknowledged it and those that have not: a copy,
/// taken between two steps.
package struct DepartureView: Sendable, Equatable {
    package let device: DeviceID
    /// Sorted; this device is one of them.
    package let heard: [DeviceID]
    /// Sorted.
    package let waitingFor: [DeviceID]

    package init(device: DeviceID, heard: [DeviceID], waitingFor: [DeviceID]) {
        self.device = device
        self.heard = heard
        self.waitingFor = waitingFor
    }
}

extension AgentCore {
    /// Sorted by device.
    package var departures: [DepartureView] { home.departures }
}

extension SpaceMachine {
    fileprivate var departures: [DepartureView] {
        let away = cuts.away
        guard !away.isEmpty else { return [] }
        let remaining = log.remainingDevices
        return away.map { device in
            let facts = stability.keepingAway(device, cuts)
            // This device knows what it is asked about.
            let heard = remaining.filter { $0 == settings.own || stability.hasHeard($0, of: facts) }
            return DepartureView(device: device, heard: heard, waitingFor: remaining.filter { !heard.contains($0) })
        }
    }
}
