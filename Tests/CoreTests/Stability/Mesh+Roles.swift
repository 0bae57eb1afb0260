import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

// Roles on the machines of a mesh, of which 0 is the founder.
extension Mesh {
    /// The guest joins through the host, and they connect.
    mutating func join(_ guest: Int, through host: Int, as role: MemberFact.Role = .writer) throws {
        let founder = try nodes[host].store.state().cuts.founder
        let (one, other) = (nodes[guest].fact, nodes[host].fact)
        let admitted = MemberFact(
            subjectPublicKeyInfo: one.subjectPublicKeyInfo, signingKey: one.signingKey, binding: one.binding,
            discoveryKey: one.discoveryKey, role: role, name: one.name, founder: founder)
        let hosting = MemberFact(
            subjectPublicKeyInfo: other.subjectPublicKeyInfo, signingKey: other.signingKey, binding: other.binding,
            discoveryKey: other.discoveryKey, role: other.role, name: other.name, isHost: true, founder: founder)
        try append(host, .operations([.addMember(admitted)]))
        try append(guest, .operations([.addMember(hosting)]))
        connect(host, guest)
    }

    /// All join through node 0, and everybody is connected with everybody.
    mutating func joinAll() throws {
        for guest in nodes.indices.dropFirst() {
            try join(guest, through: 0)
            for other in 1..<guest { connect(other, guest) }
        }
    }

    /// A person at the node orders this, with the recovery key or without; where it stands.
    @discardableResult
    mutating func order(_ node: Int, _ action: TrustOrder.Action, with key: RecoveryKey? = nil) throws -> Dot {
        let result = try append(node, .trust(TrustOrder(action, recoveryKey: key)))
        return try #require(try result.get().dots).lowerBound
    }

    @discardableResult
    mutating func revoke(_ node: Int, _ other: Int, wipes: Bool = false, with key: RecoveryKey? = nil) throws -> Dot {
        try order(node, .revocation(nodes[other].device.id, wipes: wipes), with: key)
    }

    /// The history that the node writes now.
    func history(_ node: Int) throws -> ReplicaID { try #require(try nodes[node].store.state().ownReplica) }

    /// The counter up to which a node holds the history.
    func held(_ node: Int, of replica: ReplicaID) -> UInt64 { nodes[node].core.held.next(of: replica) }

    func isBarred(_ node: Int, by other: Int) -> Bool {
        nodes[other].core.cuts.isBarred(nodes[node].device.id)
    }
}

/// The record of what the cores of a mesh did and said, from the last `forget` on.
final class MeshLog {
    private(set) var effects: [(node: Int, effect: Effect)] = []
    private(set) var frames: [(sender: Int, node: Int, frame: Frame)] = []

    /// Keeps a log of the mesh from now on.
    init(_ mesh: inout Mesh) {
        mesh.observe = { [self] node, _, effects, _ in self.effects += effects.map { (node, $0) } }
        mesh.carry = { [self] sender, node, frame, _, _ in frames.append((sender, node, frame)) }
    }

    func forget() { (effects, frames) = ([], []) }

    func effects(of node: Int) -> [Effect] { effects.filter { $0.node == node }.map(\.effect) }

    func frames(from sender: Int, to node: Int) -> [Frame] {
        frames.filter { $0.sender == sender && $0.node == node }.map(\.frame)
    }

    func goodbyes(from sender: Int, to node: Int) -> [Frame.Goodbye] {
        frames(from: sender, to: node).compactMap { if case .goodbye(let goodbye) = $0 { goodbye } else { nil } }
    }

    func statements(from sender: Int, to node: Int) -> [PlacedStatement] {
        frames(from: sender, to: node).flatMap { frame -> [PlacedStatement] in
            if case .statements(let sent) = frame { sent.statements } else { [] }
        }
    }

    func wipes(of node: Int) -> [PlacedStatement] {
        effects(of: node).compactMap { if case .wipe(let placed) = $0 { placed } else { nil } }
    }

    /// The devices that the node reported as those that say it was revoked.
    func ownRevocations(of node: Int) -> [PlacedStatement] {
        effects(of: node).compactMap { effect in
            if case .report(.ownRevocation(let placed, _)) = effect { placed } else { nil }
        }
    }
}
