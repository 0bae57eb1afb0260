package import SyncCore
package import SyncModel
import SyncTransport

/// A pairing by typed codes as a person sees it.
package struct PairingView: Sendable, Equatable {
    /// The way a device was found.
    package enum Via: String, Sendable {
        case multicast = "mdns"
        /// At an address that a person gave.
        case address
        /// The other device dialled this one.
        case incoming
    }

    package struct Device: Sendable, Equatable {
        /// Nil for a device on the network that does not pair right now: its id is not known.
        package let device: DeviceID?
        /// The device's name; the host's name while the device does not pair.
        package let name: String
        package let address: String
        package let via: Via
        /// True if it is a member of this device's space already.
        package let isMember: Bool
    }

    /// The membership that the host of the pairing gave its guest.
    package struct Membership: Sendable, Equatable {
        package let role: MemberFact.Role
        /// True if this device is the guest.
        package let isOwn: Bool
    }

    /// Counts the pairings of this run of the agent.
    package let id: UInt64
    /// Wall clock.
    package let expiresMilliseconds: Int64
    package var devices: [Device] = []
    /// True if devices pair and the person has to choose one.
    package var needsChoice = false
    /// The six digits of this screen; nil until the exchange shows them.
    package var code: String?
    package var peer: PairingCandidate?
    /// The code typed here is right.
    package var isConfirmed = false
    /// Set at the end.
    package var outcome: PairingOutcome?
    /// The other device, once it is admitted.
    var joined: JoinedDevice?
    /// The membership that the pairing gave; set with `joined`.
    package var membership: Membership?

    init(id: UInt64, expiresMilliseconds: Int64) {
        self.id = id
        self.expiresMilliseconds = expiresMilliseconds
    }
}
