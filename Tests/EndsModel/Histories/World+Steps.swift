extension Histories {
    /// What a node does by itself, when the rules allow it.
    package enum Step: Int, CaseIterable, Sendable {
        case promise, retire, bound, release, holds, rewrite, forget
    }
}

extension Histories.World {
    /// Performs a step if it is allowed; returns false otherwise.
    @discardableResult
    mutating func perform(_ step: Histories.Step, by device: Device) -> Bool {
        switch step {
        case .promise, .retire, .bound, .release: return performRetirement(step, by: device)
        case .holds: return writeHolds(device)
        case .rewrite: return rewrite(device)
        case .forget: return forget(device)
        }
    }

    // MARK: Retirement

    package mutating func propose(_ devices: Bits, by author: Device) -> Bool {
        let verdict = verdict(nodes[author].facts)
        guard !devices.isEmpty, devices.isSubset(of: verdict.remaining), verdict.remaining.contains(author),
            !devices.contains(author), isMajority(author, over: devices, verdict),
            !verdict.live.contains(where: { $0.proposal.devices == devices && !$0.proposal.isFinal })
        else { return false }
        state(.propose(devices), by: author)
        return true
    }

    /// True if the others that every named device has acknowledged knowing outnumber these, or equal them and hold the
    /// least device. A device that came back is known if its return is.
    func isMajority(_ device: Device, over devices: Bits, _ verdict: Verdict) -> Bool {
        var others = verdict.remaining - devices
        for named in devices {
            let acknowledged = nodes[device].acknowledgements[named].facts
            others &= founders | Bits(verdict.adds.filter(acknowledged.contains).compactMap(device(of:)))
            guard rules.has(.returnsAreNewcomers) else { continue }
            others -= Bits(verdict.returns.filter { !acknowledged.contains($0.id) }.map(\.device))
        }
        if others.count != devices.count { return others.count > devices.count }
        return (others | devices).first.map(others.contains) ?? false
    }

    private func device(of add: Int) -> Device? {
        if case .add(let device) = facts[add].kind { device } else { nil }
    }

    private mutating func performRetirement(_ step: Histories.Step, by device: Device) -> Bool {
        let verdict = verdict(nodes[device].facts)
        for (id, proposal) in verdict.live where proposal.isOpen(for: device) {
            switch step {
            case .promise where !proposal.promised.contains(device) && mayPromise(device, id, verdict):
                state(.promise(id), by: device)
            case .retire where mayRetire(device, id, proposal, verdict): state(.retire(id), by: device)
            case .bound where proposal.isRetired:
                let beyond = nodes[device].held & ended(id, proposal) - proposal.named
                state(
                    beyond.isEmpty || !rules.has(.boundChecks) || rules.bug == .takesFromProposed
                        ? .bound(id) : .release(id), by: device)
            case .release: state(.release(id), by: device)
            case .promise, .retire, .bound, .holds, .rewrite, .forget: continue
            }
            settle(device)
            return true
        }
        return false
    }

    /// At most one promise among conflicting proposals, until it is dead or final, or only lacks devices that this one
    /// names.
    private func mayPromise(_ device: Device, _ id: Int, _ verdict: Verdict) -> Bool {
        guard let proposal = verdict.proposals[id] else { return false }
        return verdict.live.allSatisfy { other, rival in
            guard other != id, rival.promised.contains(device), !rival.isFinal,
                conflict(proposal, rival, verdict.members)
            else { return true }
            return rules.has(.boundPromises) && rival.bound.contains(device)
                && (rival.waitsFor - rival.bound).isSubset(of: proposal.devices)
        }
    }

    private func conflict(_ one: Verdict.Proposal, _ other: Verdict.Proposal, _ members: Bits) -> Bool {
        guard one.devices != other.devices else { return false }
        return [(one, other), (other, one)].contains { left, right in
            right.devices.contains(left.author) || !((members - left.devices) & right.devices).isEmpty
        }
    }

    private func mayRetire(
        _ device: Device, _ id: Int, _ proposal: Verdict.Proposal, _ verdict: Verdict
    ) -> Bool {
        guard !proposal.isRetired, proposal.waitsFor.isSubset(of: proposal.promised) else { return false }
        let missing = ended(id, proposal) - void(verdict, on: device) - nodes[device].held
        let covered = nodes[device].facts.allSatisfy {
            facts[$0].kind != .promise(id) || (facts[$0].held & missing).isEmpty
        }
        return covered && (rules.bug == .noSecondMajority || isMajority(device, over: proposal.devices, verdict))
    }

    // MARK: Forks

    private mutating func writeHolds(_ device: Device) -> Bool {
        let verdict = verdict(nodes[device].facts)
        for (replica, fork) in verdict.forks.sorted(by: { $0.key < $1.key })
        where replicas[replica].device != device {
            let branch = nodes[device].held & histories[replica]
            let isSaid = nodes[device].facts.contains {
                facts[$0].author == device && facts[$0].kind == .holds(replica: replica)
                    && branch.isSubset(of: facts[$0].held)
            }
            guard !isSaid, !branch.isSubset(of: fork.common) else { continue }
            state(.holds(replica: replica), by: device)
            settle(device)
            return true
        }
        return false
    }

    /// Writes own works again of which no writing counts any more, one after the other.
    private mutating func rewrite(_ device: Device) -> Bool {
        let verdict = verdict(nodes[device].facts)
        guard !nodes[device].aside.isEmpty, !isIncomplete(device), verdict.remaining.contains(device) else {
            return false
        }
        let early = answered(device, verdict)
        // A tail is written again once a retirement that it answers is final.
        guard early.isEmpty || early.contains(where: { verdict.proposals[$0]?.isFinal == true }) else { return false }
        let decided = void(verdict, on: device)
        var didWrite = false
        for id in (nodes[device].kept | nodes[device].held) & changes(of: [device]) {
            guard let work = changes[id].work, nodes[device].aside.contains(work) else { continue }
            var operation = changes[id].operation
            let shown = shown(on: device)
            guard !shown.counting.contains(work), !isFull else { continue }
            switch operation {
            case .write where decided.contains(id): break
            case .edit(let target):
                guard let place = place(of: target, shown), decided.contains(id) || place != target,
                    decided.contains(id) || rules.has(.hangingWorkAgain)
                else { continue }
                operation = .edit(place)
            case .write, .delete: continue
            }
            write(operation, object: changes[id].object, work: work, by: device)
            didWrite = true
        }
        settle(device)
        return didWrite
    }

    /// A writing that counts of the work that `target` wrote.
    private func place(of target: Int, _ shown: Histories.Shown) -> Int? {
        guard let work = changes[target].work, shown.counting.contains(work) else { return nil }
        return shown.writings.first { changes[$0].work == work }
    }

    // MARK: Forgetting

    /// Keeps as state alone what all members acknowledged, with the proof.
    private mutating func forget(_ device: Device) -> Bool {
        guard !isIncomplete(device) else { return false }
        let node = nodes[device]
        let remaining = verdict(node.facts).remaining
        var floor = node.held
        for member in remaining where member != device {
            floor &= acknowledged(node.acknowledgements[member].held, node)
        }
        guard remaining.contains(device), !floor.isSubset(of: node.base) else { return false }
        state(.floor(floor), by: device)
        nodes[device].base |= floor
        settle(device)
        return true
    }

    /// What an acknowledgement covers of what is here; by counters, if acknowledgements name no heads.
    private func acknowledged(_ held: Bits, _ node: Histories.Node) -> Bits {
        guard !rules.has(.headsInAcknowledgements) else { return held }
        return histories.reduce(into: Bits()) { covered, history in
            let end = (held & history).count
            covered |= Bits((node.held & history).filter { changes[$0].counter <= end })
        }
    }
}
