package import SyncCore
package import SyncDiscovery
package import SyncModel
package import SyncStore
import SyncTransport

/// The state of an agent at one moment: taken in one turn of the loop, read at leisure.
package struct AgentSnapshot: Sendable {
    package var own: DeviceID
    package var name: String
    package var uptimeSeconds: Int
    /// The known replicas, sorted.
    package var tips: [KnownReplica]
    /// Milliseconds since 1970 of the newest change held, by its stamp; 0 before the first.
    package var newestStampMilliseconds: Int64
    package var vectorDigest: Sum256
    package var stateDigest: Sum256
    package var counts: StoreCounts
    package var membership: Membership
    package var cuts: CutTable
    /// The statement that revoked this device, as a member told it; its own tables may know nothing of it.
    package var ownRevocation: PlacedStatement?
    /// True if changes that this device wrote while it was retired still have to be written again.
    package var hasVoidWork: Bool
    /// True in the same case, or while the device is still retired.
    package var isWritingAgain: Bool
    /// True if what became void could not all be undone here (`LogState.isIncomplete`).
    package var isIncomplete: Bool
    package var peers: [PeerView]
    /// Devices that this node has nothing to do with, sorted.
    package var blocked: [DeviceID]
    /// Bytes below TLS, by connection.
    package var traffic: [ConnectionID: Traffic]
    package var strangers: [NetworkStranger]
    package var discovery: DiscoveryState
    package var instance: String
    package var listenPort: UInt16
    /// All sessions are level both ways; says nothing of members without one.
    package var isInStepWithConnected: Bool
    /// The standing of every member but this device and those that were retired.
    package var standings: [MemberStanding]
    /// The devices that were retired or revoked, with the members that have heard of it.
    package var departures: [DepartureView]
    /// The rate over the last seconds.
    package var changesPerSecond: Double
    package var core: CoreCounters
    package var stability: StabilityView
    package var blobs: BlobFigures
    package var bulk: BulkCounters
    package var bulkLoad: BulkLoad
    /// The moment it was taken, on both clocks: a `Tick` in it can be turned into wall time.
    package var now: Tick
    package var wallMilliseconds: Int64

    package struct Traffic: Sendable, Hashable {
        package var bytesIn: Int64
        package var bytesOut: Int64
    }

    /// An agent on the network that is not of our group.
    package struct NetworkStranger: Sendable, Hashable {
        package var hostName: String
        package var host: String
        package var port: UInt16
    }

    package var members: [Membership.Member] { membership.members }

    /// The number of other devices with a live mDNS record, paired or not.
    package var foundByMDNS: Int { strangers.count + Set(peers.filter { $0.via == "mdns" }.map(\.device)).count }

    /// Returns the device's name, or its short id while the name is unknown.
    package func name(of device: DeviceID) -> String {
        let name = peers.first { $0.device == device }?.name ?? ""
        return name.isEmpty ? device.shortID : name
    }

    /// Returns the role of a device by the law; nil if it is no member.
    package func role(of device: DeviceID) -> MemberFact.Role? { cuts.role(of: device, in: membership) }

    /// The founder of the space that this node follows; nil while it does not know.
    package var founder: DeviceID? { cuts.founder }

    /// The members that follow another founder and were not let go. Their nodes judge roles otherwise.
    package var otherFollowers: [DeviceID] {
        founder.map { membership.followers(besides: $0).filter { !cuts.isAway($0) } } ?? []
    }

    /// The statement that keeps this device out, from its own tables or by a member's word; nil if none is known.
    package var revocation: PlacedStatement? {
        if let row = cuts.revocation(of: own) { return PlacedStatement(row) }
        // Once it is in the tables, they say whether it holds.
        return ownRevocation.flatMap { cuts.trust.row(at: $0.dot) == nil ? $0 : nil }
    }

    /// True if this device was revoked, or only revoked devices admitted it.
    package var isRevoked: Bool { cuts.isBarred(own) || revocation != nil }

    package func wallMilliseconds(at tick: Tick) -> Int64 {
        wallMilliseconds + (tick - now).nanoseconds / 1_000_000
    }
}

extension AgentSnapshot {
    /// Takes the snapshot; on the loop only.
    init(_ loop: AgentLoop, _ bulk: BulkLoop, _ discovery: DiscoveryDriver, agent: Agent) {
        let core = loop.core
        let peers = core.peers(at: loop.now)
        var traffic: [ConnectionID: Traffic] = [:]
        for id in peers.compactMap(\.connection) {
            guard let state = loop.transport.state(of: id.rawValue) else { continue }
            traffic[id] = Traffic(bytesIn: Int64(clamping: state.bytesIn), bytesOut: Int64(clamping: state.bytesOut))
        }
        self.init(
            own: agent.device, name: agent.configuration.name, uptimeSeconds: agent.uptimeSeconds,
            tips: core.held.entries.map { KnownReplica(replica: $0.replica, tip: $0.tip) },
            newestStampMilliseconds: core.held.greatestStamp.milliseconds, vectorDigest: core.held.digest,
            stateDigest: loop.digest, counts: loop.counts,
            membership: core.membership, cuts: core.cuts, ownRevocation: core.ownRevocation,
            hasVoidWork: core.hasVoidWork,
            isWritingAgain: core.isWritingAgain, isIncomplete: core.isIncomplete, peers: peers, blocked: core.blocked,
            traffic: traffic,
            strangers: discovery.strangers,
            discovery: discovery.state, instance: discovery.instance, listenPort: agent.listenPort,
            isInStepWithConnected: core.isInStepWithConnected, standings: core.standings,
            departures: core.departures,
            changesPerSecond: loop.changesPerSecond, core: core.counters,
            stability: core.stabilityView, blobs: bulk.figures, bulk: bulk.core.counters, bulkLoad: bulk.core.load,
            now: loop.now,
            wallMilliseconds: WallClock.milliseconds)
    }
}
