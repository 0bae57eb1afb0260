extension Histories {
    /// The facts of a walk of another model, with what it judged of some sets of them: one line of a fixture, nested
    /// arrays of integers (which are JSON).
    ///
    /// `[number, founders, replicas, facts, verdicts]`. Heads are the facts of a set that no other fact of it knows;
    /// ends are `replica, counter` for each replica.
    /// - A replica is `[device, changes, heads that its first change knew]`.
    /// - A fact is `[kind, author, about, heads that it knows]`. A proposal has its devices as well, a retirement its
    ///   ends. A fact is about a device or a proposal.
    /// - A verdict is `[nodes, heads, final, dead, [proposal, ends] of each retired one, ends in effect, let go]`.
    package struct VerdictRecord: Sendable {
        package let number: Int
        package let verdicts: [Recorded]
        private let world: World

        /// What nodes judged that knew one set of facts.
        package struct Recorded: Sendable {
            package let nodes: Bits
            package let facts: Bits
            package let final: Bits
            package let dead: Bits
            /// For each retired proposal the changes up to its ends.
            package let named: [Int: Bits]
            /// The changes beyond the ends of final retirements.
            package let void: Bits
            package let gone: Bits
        }

        /// Nil if the line is no such record.
        package init?(line: some StringProtocol) {
            guard let parts = Nested(line)?.list, parts.count == 5, let replicas = parts[2].list,
                let facts = parts[3].list, let verdicts = parts[4].list
            else { return nil }
            var world = World(devices: parts[1].number, guests: 2)
            for fields in replicas.compactMap(\.list) where fields.count == 3 {
                world.recordReplica(of: fields[0].number, changes: fields[1].number)
            }
            for fields in facts.compactMap(\.list) where fields.count > 3 { world.recordFact(fields) }
            guard world.replicas.count == replicas.count, world.facts.count == facts.count else { return nil }
            for (index, replica) in replicas.enumerated() {
                world.recordStart(of: index, world.closed(replica.list?.last?.numbers ?? []))
            }
            number = parts[0].number
            self.verdicts = verdicts.compactMap(\.list).filter { $0.count == 7 }.map { Recorded($0, in: world) }
            guard self.verdicts.count == verdicts.count else { return nil }
            self.world = world
        }

        /// The differences between this model's verdict on the same facts and each recorded one.
        package func differences(_ rules: Rules) -> [[String]] {
            var own = World(devices: world.founders.count, guests: 2, rules: rules)
            (own.replicas, own.histories) = (world.replicas, world.histories)
            (own.changes, own.facts) = (world.changes, world.facts)
            return verdicts.map { recorded in
                let verdict = own.verdict(recorded.facts)
                let proposals = verdict.proposals
                let ends = Set(proposals.keys).union(recorded.named.keys).sorted().map {
                    ("ends of P\($0)", proposals[$0]?.named ?? [], recorded.named[$0] ?? [])
                }
                let sets = [
                    ("final", Bits(proposals.filter(\.value.isFinal).keys), recorded.final),
                    ("dead", Bits(proposals.filter(\.value.isDead).keys), recorded.dead),
                    ("void", own.void(verdict, on: recorded.nodes.first ?? 0), recorded.void),
                    ("let go", verdict.gone, recorded.gone),
                ]
                return (sets + ends).filter { $0.1 != $0.2 }.map { name, own, recorded in
                    "\(name): \(Array(own)), recorded \(Array(recorded))"
                }
            }
        }
    }
}

extension Histories.VerdictRecord.Recorded {
    fileprivate init(_ fields: [Nested], in world: Histories.World) {
        nodes = Histories.Bits(fields[0].numbers)
        facts = world.closed(fields[1].numbers)
        final = Histories.Bits(fields[2].numbers)
        dead = Histories.Bits(fields[3].numbers)
        var named: [Int: Histories.Bits] = [:]
        for pair in fields[4].list ?? [] {
            guard let pair = pair.list, pair.count == 2 else { continue }
            named[pair[0].number] = world.changes(upTo: pair[1].numbers)
        }
        self.named = named
        void = world.changes(beyond: fields[5].numbers)
        gone = Histories.Bits(fields[6].numbers)
    }
}

extension Histories.World {
    fileprivate mutating func recordReplica(of device: Int, changes count: Int) {
        var chain = Bits()
        for counter in 1...count {
            let seen = chain
            chain.insert(changes.count)
            changes.append(
                .init(
                    replica: replicas.count, counter: counter, chain: chain, seen: seen, operation: .write, object: 0,
                    work: nil))
        }
        replicas.append(.init(device: device, firstFacts: [], answered: []))
        histories.append(chain)
    }

    fileprivate mutating func recordStart(of replica: Int, _ known: Bits) {
        let device = replicas[replica].device
        var answered = Bits()
        for id in known where facts[id].kind == .comeBack(device) { answered |= facts[id].knows }
        replicas[replica] = .init(device: device, firstFacts: known, answered: answered)
    }

    /// Records nothing if the fields are no fact.
    fileprivate mutating func recordFact(_ fields: [Nested]) {
        let (about, more) = (fields[2].number, fields.count > 4 ? fields[4].numbers : [])
        let kinds: [Histories.Fact.Kind] = [
            .add(about), .propose(Bits(fields[0].number == 1 ? more : [])), .promise(about), .retire(about),
            .bound(about), .release(about), .comeBack(about),
        ]
        guard kinds.indices.contains(fields[0].number) else { return }
        let kind = kinds[fields[0].number]
        let held = kind == .retire(about) ? changes(upTo: more) : []
        facts.append(.init(kind: kind, author: fields[1].number, knows: closed(fields[3].numbers), held: held))
    }

    /// These facts with all that they know.
    fileprivate func closed(_ heads: [Int]) -> Bits { heads.reduce(into: Bits(heads)) { $0 |= facts[$1].knows } }

    fileprivate func changes(upTo ends: [Int]) -> Bits {
        changes(of: ends) { $0 <= $1 }
    }

    fileprivate func changes(beyond ends: [Int]) -> Bits {
        changes(of: ends) { $0 > $1 }
    }

    private func changes(of ends: [Int], where fits: (_ counter: Int, _ end: Int) -> Bool) -> Bits {
        stride(from: 0, to: ends.count - 1, by: 2).reduce(into: Bits()) { all, index in
            let (history, end) = (histories[ends[index]], ends[index + 1])
            all |= Bits(history.filter { fits(changes[$0].counter, end) })
        }
    }
}
