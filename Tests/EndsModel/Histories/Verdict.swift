extension Histories {
    /// What a set of facts says. A function of the set alone, so the order of arrival does not matter.
    struct Verdict: Sendable {
        struct Proposal: Sendable {
            let devices: Bits
            let author: Device
            /// The facts that its author knew.
            let knows: Bits
            /// The facts that its author or a member that promised knew.
            var covered: Bits
            var promised = Bits()
            var bound = Bits()
            var released = Bits()
            /// Members that must promise and be bound.
            var waitsFor = Bits()
            var isRetired = false
            var isFinal = false
            /// A member that is not bound released it.
            var isDead = false
            /// The changes up to the ends: those that count.
            var named = Bits()

            /// True if the member has neither bound itself nor given up.
            func isOpen(for member: Device) -> Bool {
                !isFinal && waitsFor.contains(member) && !(bound | released).contains(member)
            }
        }

        struct Fork: Sendable {
            /// What the histories have in common by the facts that found the fork.
            var common: Bits
            /// The branches that count: held by members, or acknowledged by all.
            var branches: [Bits] = []
            /// The longest branch, if all others are a part of it.
            var staying: Bits? {
                guard let longest = branches.max(by: { $0.count < $1.count }) else { return nil }
                return branches.allSatisfy { $0.isSubset(of: longest) } ? longest : nil
            }
            /// The last common change, if there are several branches.
            var end: Bits? {
                staying != nil || branches.isEmpty ? nil : branches.dropFirst().reduce(branches[0], &)
            }
        }

        var members: Bits
        var adds: [Int] = []
        var proposals: [Int: Proposal] = [:]
        /// By replica.
        var forks: [Int: Fork] = [:]
        /// All changes that a proof says all had acknowledged.
        var floor = Bits()
        /// For each return the device and the facts that it knows.
        var returns: [(id: Int, device: Device, knows: Bits)] = []
        /// Devices that a final retirement let go and no return admitted again.
        var gone = Bits()

        /// The proposals that are not dead, by their ids.
        private(set) var live: [(id: Int, proposal: Proposal)] = []
        var remaining: Bits { members - gone }

        fileprivate mutating func list() {
            live = proposals.sorted { $0.key < $1.key }.filter { !$0.value.isDead }.map { ($0.key, $0.value) }
        }

        /// True if a return of `device` answers the proposal.
        func answers(_ device: Device, _ proposal: Int) -> Bool {
            returns.contains { $0.device == device && $0.knows.contains(proposal) }
        }
    }
}

extension Histories.World {
    /// The verdict on `facts`, computed once for each set.
    mutating func verdict(_ set: Bits) -> Verdict {
        if let known = verdicts[set] { return known }
        var verdict = Verdict(members: founders)
        var (retires, holds): ([Int], [Int]) = ([], [])
        for id in set {
            let fact = facts[id]
            switch fact.kind {
            case .add(let device):
                verdict.members.insert(device)
                verdict.adds.append(id)
            case .fork(let replica, let common):
                verdict.forks[replica, default: .init(common: common)].common &= common
            case .holds: holds.append(id)
            case .propose(let devices):
                verdict.proposals[id] = .init(
                    devices: devices, author: fact.author, knows: fact.knows, covered: fact.knows)
            case .promise(let proposal):
                verdict.proposals[proposal]?.promised.insert(fact.author)
                verdict.proposals[proposal]?.covered |= fact.knows
            case .retire(let proposal):
                verdict.proposals[proposal]?.isRetired = true
                retires.append(id)
            case .bound(let proposal): verdict.proposals[proposal]?.bound.insert(fact.author)
            case .release(let proposal): verdict.proposals[proposal]?.released.insert(fact.author)
            case .comeBack(let device): verdict.returns.append((id, device, fact.knows))
            case .floor(let changes): verdict.floor |= changes
            }
        }
        if rules.bug == .noFloorProof { verdict.floor = [] }
        nameEnds(retires, &verdict)
        judgeForks(holds, &verdict)
        findDead(&verdict, butFor: [])
        findFinal(&verdict)
        if !rules.has(.releasesOfTheGone) {
            findDead(&verdict, butFor: verdict.gone)
            findFinal(&verdict)
        }
        verdict.list()
        verdicts[set] = verdict
        return verdict
    }

    /// Of retirements unaware of each other the greatest end holds. One that knows another cannot raise it. No end lies
    /// below what all acknowledged.
    private func nameEnds(_ retires: [Int], _ verdict: inout Verdict) {
        for id in retires {
            guard case .retire(let proposal) = facts[id].kind, let devices = verdict.proposals[proposal]?.devices,
                !retires.contains(where: { facts[$0].kind == facts[id].kind && facts[id].knows.contains($0) })
            else { continue }
            verdict.proposals[proposal]?.named |= (facts[id].held | verdict.floor) & changes(of: devices)
        }
    }

    private func judgeForks(_ holds: [Int], _ verdict: inout Verdict) {
        for (replica, fork) in verdict.forks {
            let proven = verdict.floor & histories[replica]
            var branches = proven.isSubset(of: fork.common) ? [] : tips(proven)
            // Holding another branch than a proof's, or less, ends nothing.
            for id in holds where facts[id].kind == .holds(replica: replica) {
                let branch = facts[id].held & histories[replica]
                if proven.isSubset(of: branch) || !rules.has(.headsInAcknowledgements) { branches.append(branch) }
            }
            verdict.forks[replica]?.branches = branches
        }
    }

    /// The histories in `changes`, which are of one replica: several if proofs lie on several branches.
    func tips(_ changes: Bits) -> [Bits] {
        changes.map { self.changes[$0].chain }.filter { chain in
            changes.allSatisfy { self.changes[$0].chain == chain || !chain.isSubset(of: self.changes[$0].chain) }
        }
    }

    private func findDead(_ verdict: inout Verdict, butFor ignored: Bits) {
        for (id, proposal) in verdict.proposals {
            let isDead = !(proposal.released - proposal.bound - ignored).isEmpty
            verdict.proposals[id]?.isDead = isDead && rules.bug != .ignoresReleases
        }
    }

    /// The least set of final retirements: whether one is final may depend on another, which let members go.
    private func findFinal(_ verdict: inout Verdict) {
        for id in verdict.proposals.keys { verdict.proposals[id]?.isFinal = false }
        verdict.list()
        let live = verdict.live
        var isDone: Bool
        repeat {
            isDone = true
            for (id, proposal) in live where verdict.proposals[id]?.isFinal == false {
                var waitsFor = verdict.members - proposal.devices
                if rules.has(.guestsGoToo) { waitsFor -= guests(of: proposal, verdict) }
                for (other, final) in live where other != id && verdict.proposals[other]?.isFinal == true {
                    waitsFor -= Bits(
                        final.devices.filter { device in
                            !verdict.returns.contains {
                                $0.device == device && $0.knows.contains(other) && proposal.knows.contains($0.id)
                            }
                        })
                }
                verdict.proposals[id]?.waitsFor = waitsFor
                let settled = rules.bug == .voidBeforeBound ? proposal.promised : proposal.bound
                guard proposal.isRetired, !settled.isEmpty, waitsFor.isSubset(of: settled) else { continue }
                verdict.proposals[id]?.isFinal = true
                isDone = false
            }
        } while !isDone
        verdict.gone = []
        for (id, proposal) in live where verdict.proposals[id]?.isFinal == true {
            verdict.gone |= Bits(proposal.devices.filter { !verdict.answers($0, id) })
        }
    }

    /// Devices that were admitted by what a proposal lets go, and unknown to all that promised.
    private func guests(of proposal: Verdict.Proposal, _ verdict: Verdict) -> Bits {
        var (guests, others) = (Bits(), founders)
        for id in verdict.adds {
            guard case .add(let device) = facts[id].kind else { continue }
            let isGuest = (proposal.devices | guests).contains(facts[id].author) && !proposal.covered.contains(id)
            if isGuest { guests.insert(device) } else { others.insert(device) }
        }
        return guests - others
    }

    // MARK: What is void

    /// The changes that have no effect by `verdict`, and by the retirements of `early` as if they were final.
    func void(_ verdict: Verdict, early: Bits = [], on device: Device) -> Bits {
        var void = Bits()
        for (id, proposal) in verdict.proposals where proposal.isFinal || early.contains(id) {
            void |= ended(id, proposal) - proposal.named
        }
        for (replica, fork) in verdict.forks {
            if let end = fork.end {
                void |= histories[replica] - signed(end, on: device)
            } else if let staying = fork.staying {
                void |= Bits(
                    histories[replica].filter {
                        !changes[$0].chain.isSubset(of: staying) && !staying.isSubset(of: changes[$0].chain)
                    })
            }
            if !rules.has(.headsInAcknowledgements) {
                let floor = (verdict.floor & histories[replica]).count
                void -= Bits(histories[replica].filter { changes[$0].counter <= floor })
            }
        }
        return void
    }

    /// Planted bug: a signature covers two changes on some devices.
    private func signed(_ end: Bits, on device: Device) -> Bits {
        guard rules.bug == .endsAtSignature, device % 2 == 1, end.count % 2 == 1 else { return end }
        return Bits(end.filter { changes[$0].counter < end.count })
    }

    /// The changes of all replicas that a retirement ends: those of its devices, but for exempt ones.
    func ended(_ id: Int, _ proposal: Verdict.Proposal) -> Bits {
        var ended = Bits()
        for (index, replica) in replicas.enumerated()
        where proposal.devices.contains(replica.device) && !isExempt(index, from: id) { ended |= histories[index] }
        return ended
    }

    /// True if the replica began behind a return that answers the proposal.
    func isExempt(_ replica: Int, from proposal: Int) -> Bool {
        replicas[replica].answered.contains(proposal)
    }

    /// The counter up to which a context entry of `replica` is read.
    func end(of replica: Int, _ verdict: Verdict, _ void: Bits) -> Int {
        let (history, fork) = (histories[replica], verdict.forks[replica])
        guard rules.bug != .noClamp, fork != nil || !(history & void).isEmpty else { return .max }
        guard let fork else { return (history - void).count }
        guard let read = fork.end ?? fork.staying else { return .max }
        return (read - void).count
    }
}
