extension Histories {
    /// All devices with their disks, and all changes and facts that were ever written.
    package struct World: Sendable {
        package typealias Bits = Histories.Bits
        package typealias Device = Histories.Device
        typealias Verdict = Histories.Verdict

        package let rules: Rules
        let founders: Bits
        var replicas: [Replica] = []
        /// The changes of each replica, of all its branches.
        var histories: [Bits] = []
        package internal(set) var changes: [Change] = []
        package internal(set) var facts: [Fact] = []
        package internal(set) var nodes: [Node]
        /// Copies of disks, for a device to be put back to.
        var copies: [Node?]
        var works = 0
        /// Devices whose disk was put back.
        package internal(set) var restored = Bits()
        /// What was broken, the first of its kind.
        package internal(set) var breaks: [Break] = []
        /// Devices that took a state as if they were empty.
        var refilled = Bits()
        var verdicts: [Bits: Verdict] = [:]
        /// Numbers by content, so that two orders of moves with one result are seen as one.
        var changeKeys: [Int] = []
        var factKeys: [Int] = []

        /// `devices` are members from the start; up to `guests` more may be admitted.
        package init(devices: Int, guests: Int = 0, rules: Rules = .standing) {
            self.rules = rules
            founders = Bits(0..<devices)
            nodes = (0..<devices + guests).map { _ in Node(devices: devices + guests) }
            for guest in devices..<devices + guests { nodes[guest].isMember = false }
            copies = nodes.map { _ in nil }
        }

        /// True if nothing more should be written: the sets are about to be full.
        var isFull: Bool { max(facts.count, changes.count) > Bits.limit - 40 }
        package var members: [Device] { nodes.indices.filter { nodes[$0].isMember } }
        package var living: [Device] { members.filter { nodes[$0].isAlive } }

        func changes(of devices: Bits) -> Bits {
            var all = Bits()
            for (index, replica) in replicas.enumerated() where devices.contains(replica.device) {
                all |= histories[index]
            }
            return all
        }

        // MARK: Writing

        @discardableResult
        mutating func state(_ kind: Fact.Kind, by author: Device) -> Int {
            let fact = Fact(kind: kind, author: author, knows: nodes[author].facts, held: nodes[author].held)
            facts.append(fact)
            factKeys.append(key(of: fact))
            nodes[author].facts.insert(facts.count - 1)
            return facts.count - 1
        }

        /// Appends a change to the device's own history; begins a new one if the old one has ended.
        @discardableResult
        mutating func write(
            _ operation: Change.Operation, object: Int, work: Int?, by device: Device
        ) -> Int {
            let replica = writable(device)
            let node = nodes[device]
            let before = node.held & histories[replica]
            var chain = before
            chain.insert(changes.count)
            let change = Change(
                replica: replica, counter: chain.count, chain: chain, seen: node.held, operation: operation,
                object: object, work: work)
            changeKeys.append(key(of: change))
            nodes[device].held.insert(changes.count)
            histories[replica].insert(changes.count)
            if let work { nodes[device].mine.insert(work) }
            changes.append(change)
            return changes.count - 1
        }

        private mutating func writable(_ device: Device) -> Int {
            let node = nodes[device]
            let verdict = verdict(node.facts)
            let early = answered(device, verdict)
            if let current = node.current, verdict.forks[current] == nil, (node.kept & histories[current]).isEmpty,
                !verdict.proposals.contains(where: { id, proposal in
                    (proposal.isFinal || early.contains(id)) && proposal.devices.contains(device)
                        && !isExempt(current, from: id)
                })
            {
                return current
            }
            var answered = Bits()
            for id in node.facts where facts[id].kind == .comeBack(device) { answered |= facts[id].knows }
            replicas.append(Replica(device: device, firstFacts: node.facts, answered: answered))
            histories.append([])
            nodes[device].current = replicas.count - 1
            return replicas.count - 1
        }

        /// Retirements that apply on the device's own disk before they are final: it was admitted again, or forgot its
        /// `bound`.
        func answered(_ device: Device, _ verdict: Verdict) -> Bits {
            Bits(
                verdict.live.filter { id, proposal in
                    proposal.isRetired
                        && (proposal.devices.contains(device) && verdict.answers(device, id)
                            || nodes[device].forgotten.contains(id))
                }.map(\.id))
        }

        // MARK: Taking effect

        /// Gives each change the effect that the facts of the device say: void ones are set aside, others are taken up
        /// again.
        mutating func settle(_ device: Device) {
            let verdict = verdict(nodes[device].facts)
            let void = void(verdict, early: answered(device, verdict), on: device)
            let lost = nodes[device].held & void - nodes[device].base
            if !lost.isEmpty {
                checkLoss(lost, of: device, verdict)
                nodes[device].held -= lost
                nodes[device].kept |= lost
            }
            if !(nodes[device].kept - void).isEmpty { take(nodes[device].kept, by: device, from: device) }
            let shown = shown(on: device)
            guard rules.bug != .hidesTail else { return }
            let own = nodes[device].kept | nodes[device].held & changes(of: [device])
            let works = Bits(own.compactMap { replicas[changes[$0].replica].device == device ? changes[$0].work : nil })
            nodes[device].aside = (nodes[device].aside | works) - shown.counting
        }

        /// True if the node holds as state what is void: it can undo nothing of it.
        mutating func isIncomplete(_ device: Device) -> Bool {
            let verdict = verdict(nodes[device].facts)
            return !(nodes[device].base & void(verdict, early: answered(device, verdict), on: device)).isEmpty
        }
    }
}
