package import SyncModel

/// A device that pairs right now: its link is up and its offer came.
package struct PairingCandidate: Hashable, Sendable {
    package let side: PairingTranscript.Side
    package let device: DeviceID
    /// A label that the device gives itself.
    package let name: String
    /// The number of members of its space, by its own statement. It decides only which of the two is shown as added by the other.
    package let memberCount: UInt64
    /// The address of the link, in text form.
    package let address: String

    package init(
        side: PairingTranscript.Side, device: DeviceID, name: String, memberCount: UInt64, address: String
    ) {
        self.side = side
        self.device = device
        self.name = name
        self.memberCount = memberCount
        self.address = address
    }
}

/// The end of a pairing, as the person at this device learns it.
package enum PairingOutcome: Hashable, Sendable {
    case paired(PairingCandidate)
    /// The code typed here is not that of the other screen.
    case wrongCode(PairingCandidate)
    /// The other device ended the exchange.
    case endedThere(PairingCandidate, PairingEnd)
    /// The connection broke while the codes were compared.
    case connectionLost(PairingCandidate)
    /// The other device is a member here; the connection broke before it said the same.
    case halfPaired(PairingCandidate)
    /// This device could not write the member down.
    case notAdmitted(PairingCandidate)
    /// The time is over.
    case timedOut
    /// Exchanges were broken off before they showed a code, as often as a pairing allows.
    case tooManyTries
    case cancelled
}
