extension Histories.World {
    /// Two devices meet: acknowledgements and facts, forks that show, returns, then changes and state both ways.
    mutating func sync(_ one: Device, _ other: Device) {
        let pair = [(one, other), (other, one)]
        for (device, peer) in pair { learn(nodes[peer].facts, nodes[peer].acknowledgements, by: device) }
        for device in [one, other] { acknowledge(device) }
        findForks(one, other)
        for (device, peer) in pair { admitAgain(peer, by: device) }
        shareFacts(one, other)
        for _ in 0..<2 {
            for (device, peer) in pair { pull(by: device, from: peer) }
        }
        for device in [one, other] { acknowledge(device) }
        for (device, peer) in pair {
            learn(nodes[peer].facts, nodes[peer].acknowledgements, by: device)
        }
    }

    private mutating func shareFacts(_ one: Device, _ other: Device) {
        learn(nodes[other].facts, [], by: one)
        learn(nodes[one].facts, [], by: other)
    }

    private mutating func learn(
        _ news: Bits, _ acknowledgements: [Histories.Acknowledgement], by device: Device
    ) {
        for (index, acknowledgement) in acknowledgements.enumerated()
        where acknowledgement.version > nodes[device].acknowledgements[index].version {
            nodes[device].acknowledgements[index] = acknowledgement
        }
        let unknown = news - nodes[device].facts
        guard !unknown.isEmpty else { return }
        nodes[device].facts |= unknown
        if rules.has(.forgottenBounds) {
            for id in unknown where facts[id].author == device {
                if case .bound(let proposal) = facts[id].kind { nodes[device].forgotten.insert(proposal) }
            }
        }
        settle(device)
    }

    /// Says what the device holds. A node that cannot undo what is void acknowledges nothing.
    private mutating func acknowledge(_ device: Device) {
        guard !isIncomplete(device) else { return }
        let node = nodes[device]
        let old = node.acknowledgements[device]
        guard old.held != node.held || old.facts != node.facts else { return }
        nodes[device].acknowledgements[device] = .init(version: old.version + 1, held: node.held, facts: node.facts)
    }

    /// Two signed histories of one replica are a fact of its own.
    private mutating func findForks(_ one: Device, _ other: Device) {
        for (replica, history) in histories.enumerated() {
            let (left, right) = (nodes[one].held & history, nodes[other].held & history)
            guard !left.isSubset(of: right), !right.isSubset(of: left) else { continue }
            let known = verdict(nodes[one].facts | nodes[other].facts).forks[replica]
            if let known, known.common.isSubset(of: left & right) { continue }
            state(.fork(replica: replica, common: left & right), by: one)
        }
    }

    /// A member that is bound admits a device that was let go and that it meets. The device sets its tail aside.
    private mutating func admitAgain(_ device: Device, by member: Device) {
        let verdict = verdict(nodes[member].facts)
        let open = verdict.live.filter { id, proposal in
            proposal.devices.contains(device) && proposal.bound.contains(member) && !verdict.answers(device, id)
        }
        guard !open.isEmpty, verdict.members.contains(member) else { return }
        state(.comeBack(device), by: member)
        shareFacts(member, device)
    }

    // MARK: Changes and state

    private mutating func pull(by device: Device, from peer: Device) {
        let source = nodes[peer]
        let verdict = verdict(nodes[device].facts)
        let blocked = blocked(device, from: peer, verdict)
        nodes[device].kept |= source.kept - nodes[device].held - blocked
        take((source.held - source.base) | source.kept - blocked, by: device, from: peer)
        if !isIncomplete(peer) {
            if isIncomplete(device) { takeWhole(by: device, from: peer) } else { join(by: device, from: peer) }
        }
        settle(device)
    }

    /// Changes of devices that a proposal names: members that it waits for do not take them from these devices.
    private mutating func blocked(
        _ device: Device, from peer: Device, _ verdict: Verdict
    ) -> Bits {
        guard device != peer, rules.bug != .takesFromProposed else { return [] }
        var blocked = Bits()
        for (id, proposal) in verdict.live
        where proposal.devices.contains(peer) && proposal.waitsFor.contains(device) && !proposal.isFinal {
            blocked |= ended(id, proposal)
        }
        return blocked
    }

    /// Applies the changes that extend what is here, whose context is here, and that are not void.
    mutating func take(_ candidates: Bits, by device: Device, from peer: Device) {
        let verdict = verdict(nodes[device].facts)
        var void = void(verdict, early: answered(device, verdict), on: device)
        void |= blocked(device, from: peer, verdict)
        let members = verdict.members
        var isDone: Bool
        repeat {
            isDone = true
            for id in candidates - nodes[device].held - void {
                let change = changes[id]
                let history = nodes[device].held & histories[change.replica]
                guard members.contains(replicas[change.replica].device), history.count == change.counter - 1,
                    history.isSubset(of: change.chain), isDelivered(change, to: device, verdict)
                else { continue }
                nodes[device].held.insert(id)
                nodes[device].kept -= [id]
                isDone = false
            }
        } while !isDone
    }

    /// True if the context is held, read by counters and up to the ends.
    private mutating func isDelivered(
        _ change: Histories.Change, to device: Device, _ verdict: Verdict
    ) -> Bool {
        let held = nodes[device].held
        let missing = change.seen - held
        guard !missing.isEmpty else { return true }
        let void = void(verdict, early: answered(device, verdict), on: device)
        return Set(missing.map { changes[$0].replica }).allSatisfy { replica in
            let history = histories[replica]
            return min((change.seen & history).count, end(of: replica, verdict, void)) <= (held & history).count
        }
    }

    /// Takes the peer's state, if a part of what it has is there as state alone. Both have the same facts, and so the
    /// same ends.
    private mutating func join(by device: Device, from peer: Device) {
        guard !(nodes[peer].base - nodes[device].held).isEmpty, nodes[peer].facts == nodes[device].facts else { return }
        let news = nodes[peer].held - nodes[device].held
        let verdict = verdict(nodes[device].facts)
        let void = void(verdict, early: answered(device, verdict), on: device)
        let fits = histories.allSatisfy { history in
            let (own, new) = (nodes[device].held & history, nodes[peer].held & history)
            return own.isSubset(of: new) || new.isSubset(of: own)
        }
        guard fits, (news & (void | blocked(device, from: peer, verdict))).isEmpty else { return }
        nodes[device].held |= news
        nodes[device].base |= news
        nodes[device].kept -= news
    }

    /// Takes the state as if empty. Own changes that the peer lacks stay, if they extend it.
    private mutating func takeWhole(by device: Device, from peer: Device) {
        guard nodes[peer].facts == nodes[device].facts else { return }
        let verdict = verdict(nodes[device].facts)
        let void = void(verdict, early: answered(device, verdict), on: device)
        let own = nodes[device].held - void
        guard (nodes[peer].held & (void | blocked(device, from: peer, verdict))).isEmpty else { return }
        if rules.has(.wholeFromCovering) {
            guard own.isSubset(of: nodes[peer].held) else { return }
        }
        let rest = (nodes[device].held - nodes[device].base) & changes(of: [device]) - nodes[peer].held - void
        refilled.insert(device)
        nodes[device].held = nodes[peer].held
        nodes[device].base = nodes[peer].held
        nodes[device].kept -= nodes[peer].held
        nodes[device].kept |= void & (changes(of: [device]))
        take(rest, by: device, from: device)
    }
}
