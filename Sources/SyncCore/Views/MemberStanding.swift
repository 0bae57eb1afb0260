package import SyncModel

/// The progress of a member towards what this node holds, for `status` and `wait`: a copy, taken between two steps.
package struct MemberStanding: Sendable, Equatable {
    package let device: DeviceID
    package let name: String
    package let isConnected: Bool
    /// The vector that the member announced: on the present session, or else on the last one and in its acknowledgements. Nil
    /// before its first announcement. Never more than it held at that time.
    package let known: VersionVector?
    package let state: State

    package enum State: Sendable, Equatable {
        case inStep
        /// The number of operations held here that the member lacks; above 0.
        case behind(UInt64)
        case unknown
    }
}

/// The vectors that members held when their last session ended, sorted by device.
///
/// Bounds: one vector a member. Not kept on disk: after a restart a member's acknowledgement says what it has.
struct LastWords: Sendable {
    private var words: [(device: DeviceID, held: VersionVector)] = []

    subscript(device: DeviceID) -> VersionVector? { words.first { $0.device == device }?.held }

    mutating func record(_ held: VersionVector, of device: DeviceID) {
        if let index = words.firstIndex(where: { $0.device == device }) {
            words[index].held = held
        } else {
            words.insert((device, held), at: words.firstIndex { device < $0.device } ?? words.count)
        }
    }
}

extension AgentCore {
    /// Every member but this device and those that were retired or blocked, sorted by device.
    package var standings: [MemberStanding] {
        let network = step.network
        return home.standings.filter { network.isTrusted($0.device) }.map { standing in
            let name = network.heardNames[standing.device] ?? standing.name
            return MemberStanding(
                device: standing.device, name: name, isConnected: standing.isConnected, known: standing.known,
                state: standing.state)
        }
    }
}

extension SpaceMachine {
    /// Every member but this device and those that were retired, sorted by device, under the name of its membership fact.
    fileprivate var standings: [MemberStanding] {
        let ours = held.vector()
        return membership.members.compactMap { member in
            let device = member.device
            guard device != settings.own, !cuts.isAway(device) else { return nil }
            let connected = upPeers.filter { peers[$0].device == device }
            let known = known(of: device, connected: connected)
            return MemberStanding(
                device: device, name: member.fact.name, isConnected: !connected.isEmpty, known: known,
                state: state(of: known, ours))
        }
    }

    private func state(of known: VersionVector?, _ ours: VersionVector) -> MemberStanding.State {
        guard let known else { return settings.faults.contains(.takeSilenceForInStep) ? .inStep : .unknown }
        let lacking = ours.entries(beyond: known).reduce(UInt64(0)) { sum, entry in
            sum &+ (entry.next - known.next(of: entry.replica))
        }
        return lacking == 0 ? .inStep : .behind(lacking)
    }

    /// A session's word replaces older ones: the member may have been put back to an earlier state.
    private func known(of device: DeviceID, connected: [Int]) -> VersionVector? {
        guard connected.isEmpty else {
            return connected.first { peers[$0].peerTipsAreComplete }.map { peers[$0].peerTips.vector() }
        }
        let acknowledged = stability.counted(of: device)
        guard var known = lastWords[device] else { return acknowledged }
        if let acknowledged { known.join(acknowledged) }
        return known
    }

    mutating func recordLastWord(of peer: SpacePeer) {
        guard peer.peerTipsAreComplete else { return }
        lastWords.record(peer.peerTips.vector(), of: peer.device)
    }
}
