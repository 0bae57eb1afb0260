package import SyncModel

/// A peer as `peers`, `why` and the simulator's checkers see it: a copy, taken between two steps.
package struct PeerView: Sendable, Equatable {
    package enum State: String, Sendable, Equatable {
        /// A member with a live mDNS record, or an address where no device answered yet, and no attempt under way.
        case discovered
        case connecting
        case connected
        /// A member without a session and without a live mDNS record; its known addresses are dialled again later.
        case offline
    }

    /// The device; nil for an address where no device answered yet.
    package var device: DeviceID?
    package var name: String
    package var state: State
    /// The address at which the peer is dialled, or could be.
    package var endpoint: Endpoint?
    package var via: String?
    package var roundTrip: Tick.Span?
    package var connection: ConnectionID?
    /// The operations that the peer holds and we lack, and the other way round; nil while unknown.
    package var weLack: UInt64?
    package var theyLack: UInt64?
    /// True if we lack what no connected peer has as changes any more, and this one, asked for its state last, gave none.
    package var refusesState = false
    /// The growth of what the peer holds.
    package var operationsPerSecond: UInt64
    package var agentVersion: String
    /// The latest failure on the way to this peer, with its time.
    package var lastFailure: String?
    package var lastFailureAt: Tick?
    package var nextAttemptAt: Tick?
    /// The latest time at which a session came up or ended; nil if none did since the agent started.
    package var lastConnectedAt: Tick?
    /// The time at which the peer was last heard on the present session.
    package var lastHeardAt: Tick?
    /// The time at which the connection of the present session opened: before the peer's Hello.
    package var connectedAt: Tick?
    package var outstandingBytes: Int
    /// The time since which our message has waited for an answer, if that is long enough to matter.
    package var unansweredSince: Tick?
    /// True if a decision made on this node blocks the device.
    package var isBlocked = false
    /// The round trip of the newest ping, and the number of pings answered on the present session.
    package var newestRoundTrip: Tick.Span?
    package var pongs: UInt64 = 0
    /// The number of times on the present session that the peer announced all that it holds.
    package var wholeHaves: UInt64 = 0
}

extension AgentCore {
    /// Returns every member but ourselves, sorted by device, then every address where no device answered yet, sorted.
    package func peers(at now: Tick) -> [PeerView] {
        let network = step.network
        let members = home.membership.members.filter { $0.device != configuration.own }.map { member in
            let view = network.view(of: member.device, name: member.fact.name, at: now)
            return home.complete(view, at: now)
        }
        return members + network.unnamedViews
    }

    /// Returns the name that a member gave itself: on its newest session, else when it was admitted. Nil if there is none.
    package func name(of device: DeviceID) -> String? {
        let name = step.network.heardNames[device] ?? home.membership[device]?.fact.name ?? ""
        return name.isEmpty ? nil : name
    }

    /// True if all sessions are up to date with us, both ways, as far as their last announcement goes. Members without a
    /// session do not count.
    package var isInStepWithConnected: Bool { home.isInStepWithConnected }

    /// The same, but for changes that wait here for others that no connected member holds: a device that is gone for good may
    /// have left such.
    package var isLevelWithConnected: Bool { home.isLevelWithConnected }

    package var connectedDevices: [DeviceID] {
        Array(Set(step.network.upConnections.compactMap { step.network.session($0)?.device })).sorted()
    }
}

extension PeerNetwork {
    /// Returns a member as the network sees it; what is held on either side is left open.
    fileprivate func view(of device: DeviceID, name: String, at now: Tick) -> PeerView {
        let session = sessions.first { $0.device == device && $0.state == .up }
        let targets = book.present.filter { $0.device == device }
        let isDialling = targets.contains { $0.attempt != nil } || sessions.contains { $0.device == device }
        let target =
            targets.first { $0.endpoint == session?.address } ?? targets.first { !$0.instances.isEmpty }
            ?? targets.first
        let failure = targets.filter { $0.lastFailure != nil }.max {
            ($0.lastFailureAt ?? now) < ($1.lastFailureAt ?? now)
        }
        let state: PeerView.State =
            session != nil
            ? .connected
            : isDialling ? .connecting : targets.contains { !$0.instances.isEmpty } ? .discovered : .offline
        return PeerView(
            device: device, name: heardNames[device] ?? name, state: state,
            endpoint: session?.address ?? target?.endpoint, via: via(of: targets), roundTrip: session?.roundTrip,
            connection: session?.id, weLack: nil, theyLack: nil, operationsPerSecond: 0,
            agentVersion: session?.peerVersion ?? "", lastFailure: failure?.lastFailure,
            lastFailureAt: failure?.lastFailureAt,
            nextAttemptAt: session == nil ? targets.compactMap(\.nextAt).min() : nil,
            lastConnectedAt: book.lastConnected(device), lastHeardAt: session?.lastReceivedAt,
            connectedAt: session?.openedAt, outstandingBytes: 0,
            unansweredSince: session.flatMap { isSuspected($0, at: now) ? $0.unansweredSince : nil },
            isBlocked: isBlocked(device), newestRoundTrip: session?.newestRoundTrip, pongs: session?.pongs ?? 0)
    }

    /// The addresses where no device answered yet.
    fileprivate var unnamedViews: [PeerView] {
        book.present.filter { $0.device == nil && !$0.isOwn }.map { target in
            PeerView(
                device: nil, name: "", state: target.attempt == nil ? .discovered : .connecting,
                endpoint: target.endpoint, via: target.via.rawValue, roundTrip: nil, connection: nil, weLack: nil,
                theyLack: nil, operationsPerSecond: 0, agentVersion: "", lastFailure: target.lastFailure,
                lastFailureAt: target.lastFailureAt, nextAttemptAt: target.nextAt, lastConnectedAt: nil,
                lastHeardAt: nil, connectedAt: nil, outstandingBytes: 0, unansweredSince: nil)
        }
    }

    /// Returns the best source of the peer's address: a live record, an address a user gave, or where it was met before.
    private func via(of targets: [DialBook.Target]) -> String? {
        let ways = targets.map(\.via)
        return (ways.contains(.mdns) ? DialBook.Via.mdns : ways.contains(.static) ? .static : ways.first)?.rawValue
    }
}

extension SpaceMachine {
    /// Returns the view with what each side holds of this space.
    fileprivate func complete(_ view: PeerView, at now: Tick) -> PeerView {
        var view = view
        let index = view.connection.flatMap { peerIndex($0) }
        let peer = index.map { peers[$0] }
        if let index, let peer, peer.peerTipsAreComplete {
            view.weLack = peer.claims.lacking
            view.theyLack = held.operations(beyond: peer.peerTips)
            view.refusesState = stateReceiver.isRefused(by: peer.id) && isStateNeeded(from: index)
        }
        view.wholeHaves = peer?.wholeHaves ?? 0
        view.operationsPerSecond = peer?.progress.perSecond(at: now) ?? 0
        view.outstandingBytes = puller.wants.reduce(0) { $0 + ($1.connection == view.connection ? $1.creditBytes : 0) }
        return view
    }

    fileprivate var isInStepWithConnected: Bool { receiver.isEmpty && isLevelWithConnected }

    fileprivate var isLevelWithConnected: Bool {
        puller.isEmpty && !stateReceiver.isTaking
            && upPeers.allSatisfy { peers[$0].peerTipsAreComplete && peers[$0].peerTips.digest == held.digest }
    }
}
