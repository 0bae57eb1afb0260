import SyncCore
import SyncModel
import SyncStore

// The end: a person on one machine, as an admin or with the recovery key, puts right what thieves did; and what is checked then.
extension World {
    private static let roundLimit = 120
    private static let ordersPerRound = 20

    mutating func planPuttingRight() {
        guard options.thieves != nil else { return }
        queue.plan(.thief(.putRight), at: now + 2_000_000_000)
        for second in 91...Self.thievesPatienceNanoseconds / 1_000_000_000 + 1 {
            queue.plan(.look, at: now + second * 1_000_000_000)
        }
    }

    /// A person sees what this machine holds; of the rest they hear later, and look again.
    mutating func putRight() {
        guard let options = options.thieves, let rounds = thieves?.rounds, rounds < Self.roundLimit else { return }
        thieves?.rounds = rounds + 1
        queue.plan(.thief(.putRight), at: now + 3_000_000_000)
        // The key does nothing on a machine that has not heard of it.
        let isDeaf = (try? nodes[options.helper].store?.logState())?.cuts.recoveryKey == nil
        let helper = options.usesKey && isDeaf ? 0 : options.helper
        guard nodes[helper].isUp else { return }
        var last: TrustOrder.Action?
        for _ in 0..<Self.ordersPerRound {
            guard let order = orderToPutRight(on: helper), order != last, failure == nil,
                state(order, on: helper, withKey: options.usesKey)
            else { return }
            last = order
        }
    }

    /// The next thing that the person does; nil if all is right as far as this machine knows.
    private func orderToPutRight(on helper: Int) -> TrustOrder.Action? {
        guard let options = options.thieves, let state = try? nodes[helper].store?.logState(),
            let verdicts = state.cuts.verdicts, state.cuts.recoveryKey != nil || !options.usesKey
        else { return nil }
        func device(_ node: Int) -> DeviceID { nodes[node].device.id }
        func isKnown(_ device: DeviceID) -> Bool { state.members.additions.contains { $0.device == device } }
        func isRevoked(_ device: DeviceID) -> Bool {
            guard options.usesKey else { return state.cuts.isRevoked(device) }
            return state.cuts.trust.rows.contains {
                $0.statement.isRecovery && $0.statement.isRevocation && $0.statement.device == device
            }
        }
        if let thief = options.thief.map(device), isKnown(thief), !isRevoked(thief) {
            return .revocation(thief, wipes: false)
        }
        // Those that the thief admitted as long as its word counted: the others are out by that.
        if let thief = options.thief.map(device), let accomplice = options.accomplice.map(device),
            verdicts.roles[accomplice] != nil, !isRevoked(accomplice),
            ThievesEnding.hasAdmitted(thief, accomplice, state)
        {
            return .revocation(accomplice, wipes: false)
        }
        if let lost = options.lost.map(device), isKnown(lost), !isRevoked(lost) {
            return .revocation(lost, wipes: false)
        }
        for node in memberNodes where isKnown(device(node)) || node == 0 {
            let (device, expected) = (device(node), options.role(of: node))
            guard let role = verdicts.roles[device] else { return .readmission(device, expected) }
            if options.isSteady(node), role != expected { return .role(device, expected) }
        }
        return nil
    }

    /// True if all members give all devices the same roles, and honest members those that they shall have.
    var areRolesRight: Bool {
        guard let options = options.thieves else { return true }
        let all = memberNodes.map { nodes[$0].core?.cuts.verdicts?.roles }
        guard let roles = all[0], all.allSatisfy({ $0 == roles }) else { return false }
        return nodes.indices.allSatisfy { node in
            let role = roles[nodes[node].device.id]
            if node == options.accomplice { return true }
            if leaves(node) { return role == nil }
            return options.isSteady(node) ? role == options.role(of: node) : role != nil
        }
    }

    /// Devices that the key has admitted again, if deletions may have been forgotten without them. What they wrote meanwhile may
    /// meet such a deletion on one node and not on another (Decisions/36, "What is not solved").
    var readmittedLate: Set<DeviceID> {
        guard let thieves, options.thieves?.forgets ?? false else { return [] }
        return thieves.readmitted
    }

    // MARK: Checks

    mutating func checkThieves() {
        guard let options = options.thieves, failure == nil else { return }
        let steady = nodes.indices.filter { options.isSteady($0) && !leaves($0) }.map { nodes[$0].device.id }
        let thieves = [options.thief, options.accomplice].compactMap { $0.map { nodes[$0].device.id } }
        for node in memberNodes {
            guard let store = nodes[node].store else { continue }
            do throws(StoreError) {
                let ending = try ThievesEnding(
                    node: node, store, steady: steady, thieves: thieves, isAtRest: standstill == nil)
                let isForked = standstill?.words[node]?.contains(.forked) ?? false
                if !self.options.forkers.isEmpty, !isForked, try store.state().hasTakenBack {
                    fail(ThievesChecker.name, "node \(node) does not write again what it took back")
                }
                check { $0.thievesEnded(ending) }
            } catch { fail(ThievesChecker.name, "node \(node) cannot be read: \(error)") }
        }
    }

    /// Fails if the transport is told to let a device in that the node refuses: it asks nothing else of bulk connections.
    mutating func checkTrusted(_ node: Int) {
        guard options.thieves != nil, !isOutlaw(node), let cuts = nodes[node].core?.cuts else { return }
        for device in nodes[node].trusted where cuts.isBarred(device) {
            fail(ThievesChecker.name, "node \(node) lets \(device.shortID) connect, which it refuses")
        }
    }

    /// Fails if a node hands bytes of attachments to a device that it refuses.
    mutating func checkServed(_ node: Int, _ frame: BulkFrame, on number: Int) {
        guard options.thieves != nil, !isOutlaw(node), let cuts = nodes[node].core?.cuts else { return }
        switch frame {
        case .chunk, .smallBlobs, .hashes: break
        case _: return
        }
        let link = links[number]
        let peer = nodes[link.dialer.node == node ? link.acceptor.node : link.dialer.node].device.id
        if cuts.isBarred(peer) {
            fail(ThievesChecker.name, "node \(node) hands bytes to \(peer.shortID), which it refuses")
        }
    }
}
