package import SyncModel

// What the shell, the simulator's checkers and tests may look at between two steps.
extension AgentCore {
    package var configuration: CoreConfiguration { step.network.settings.configuration }
    package var counters: CoreCounters { step.counters }
    /// The devices that this node refuses, sorted.
    package var blocked: [DeviceID] { step.network.blocked }
    package func isBlocked(_ device: DeviceID) -> Bool { step.network.isBlocked(device) }
    /// True if a trusted member was met at this address, or a user gave it.
    package func isKnownAddress(_ host: String) -> Bool { step.network.isKnownAddress(host) }
    /// True if a discovery record names this address.
    package func isNamedAddress(_ host: String) -> Bool { step.network.isNamedAddress(host) }

    /// Returns the addresses at which a member is dialled, the likeliest first: those of live records, those that a user gave, those
    /// where it was met. None for a device that may have no session.
    package func dialAddresses(of device: DeviceID) -> [Endpoint] {
        guard device != configuration.own, step.network.isTrusted(device) else { return [] }
        let targets = step.network.book.present.filter { $0.device == device && !$0.isOwn }
        return [DialBook.Via.mdns, .static, .lastKnown].flatMap { via in
            targets.filter { $0.via == via }.map(\.endpoint)
        }
    }

    /// Returns the device at the other end of a session; nil for a connection that is none, or has ended.
    package func device(of connection: ConnectionID) -> DeviceID? { step.network.session(connection)?.device }

    package var space: SpaceID { home.space }
    package var membership: Membership { home.membership }
    /// The tips that are durable here.
    package var held: TipTable { home.held }
    package var stateDigest: Sum256 { home.stateDigest }
    /// The counter of each replica from which on changes are held.
    package var firstHeld: VersionVector { home.firstHeld }
    package var cuts: CutTable { home.cuts }
    /// True while objects are incomplete, see `StoreChange`.
    package var isIncomplete: Bool { home.isIncomplete && !configuration.faults.contains(.hideIncomplete) }
    /// The vector that a counted acknowledgement of every member covers.
    package var stable: VersionVector { home.stable }
    package var stabilityView: StabilityView { home.stabilityView }
    /// The replicas of which a peer holds another history than ours.
    package var forkedReplicas: [ReplicaID] { home.forkedReplicas }
    /// The statement that revoked this device, as a member told it: none of its later changes reach it.
    package var ownRevocation: PlacedStatement? { home.ownRevocation }
    package var hasVoidWork: Bool { home.hasVoidWork }
    package var isWritingAgain: Bool { home.isWritingAgain }
    package var droppingEventsStep: Int? { home.droppingEventsStep }
}
