extension CutTable {
    /// Which cuts hold, and where histories therefore end: the least fixed point, since a change that counts may keep
    /// another, and that a third.
    struct Ends: Hashable, Sendable {
        /// Sorted.
        private var holding: [Dot] = []
        /// How far witnesses keep a replica in spite of a cut.
        private var kept: [Kept: UInt64] = [:]
        /// By cut, the devices that nobody has let in whose word counts without it; sorted.
        private var hanging: [Dot: [DeviceID]] = [:]

        private struct Kept: Hashable, Sendable {
            let cut: Dot
            let replica: ReplicaID
        }

        init() {}

        init(_ table: CutTable, _ members: MemberFacts) {
            holding = Judgement(table, members).holding
            settle(table, members)
            // Who is no member lets nobody go.
            let spoken = table.cuts.filter { holds($0) && (table.isSettled($0.dot) || counts($0.dot, table)) }.map(
                \.dot)
            guard spoken != holding, !hanging.isEmpty else { return }
            (holding, kept, hanging) = (spoken, [:], [:])
            settle(table, members)
        }

        private mutating func settle(_ table: CutTable, _ members: MemberFacts) {
            var isMoving = true
            while isMoving {
                isMoving = false
                hanging = Dictionary(
                    uniqueKeysWithValues: table.cuts.filter(holds).compactMap { cut in
                        let devices = hangingDevices(cut, table, members)
                        return devices.isEmpty ? nil : (cut.dot, devices)
                    })
                for witness in table.witnesses where counts(witness.change, table) {
                    let key = Kept(cut: witness.cut, replica: witness.replica)
                    guard kept[key] ?? 0 < witness.next else { continue }
                    kept[key] = witness.next
                    isMoving = true
                }
            }
        }

        /// Whom only words lead to that the cut made void, beginning with its author: what they say counts from nowhere.
        private func hangingDevices(_ cut: Cut, _ table: CutTable, _ members: MemberFacts) -> [DeviceID] {
            let author = cut.dot.replica.device
            // Words that know the cut bring back (`Return`), or let in whom it does not concern.
            let returns = Set(table.returns.filter { $0.cut == cut.dot }.map(\.addition))
            let all = members.reached(from: author) { !returns.contains($0) }
            let left = members.reached(from: author) { fact in
                !returns.contains(fact)
                    && (fact.replica.device != cut.fact.device || fact.counter < self.end(of: fact.replica, cut))
            }
            return all.filter { device in
                device != author && device != cut.fact.device && !left.contains(device)
            }
        }

        private func end(of replica: ReplicaID, _ cut: Cut) -> UInt64 {
            max(cut.fact.end(of: replica), kept[Kept(cut: cut.dot, replica: replica)] ?? 0)
        }

        func concerns(_ cut: Cut, _ device: DeviceID) -> Bool {
            holds(cut) && (cut.fact.device == device || hanging[cut.dot]?.contains(device) ?? false)
        }

        /// Every device that a cut is about, sorted.
        func concerned(_ table: CutTable) -> [DeviceID] {
            Set(table.cuts.map(\.fact.device) + hanging.values.joined()).sorted()
        }

        func holds(_ cut: Cut) -> Bool { holding.contains(cut.dot) }

        func counts(_ dot: Dot, _ table: CutTable) -> Bool {
            end(of: dot.replica, table).map { dot.counter < $0 } ?? true
        }

        func end(of replica: ReplicaID, _ table: CutTable) -> UInt64? {
            table.cuts.lazy.filter { concerns($0, replica.device) && !isExempt(replica, $0, table) }
                .map { $0.fact.device == replica.device ? end(of: replica, $0) : 0 }.min()
        }

        /// A return lies in the past of what it exempts: this comes to an end.
        private func isExempt(_ replica: ReplicaID, _ cut: Cut, _ table: CutTable) -> Bool {
            table.exemptions.contains {
                $0.replica == replica && $0.reason.cut == cut.dot && counts($0.reason.addition, table)
            }
        }
    }

    /// Which cuts hold: those that are settled, whatever else arrives. Of the others those that their author says beyond its
    /// own end do not; of two that cut each other, or of more in a circle, one has to stay, or there would be nobody to let
    /// the others in again.
    private struct Judgement {
        private(set) var holding: [Dot] = []

        init(_ table: CutTable, _ members: MemberFacts) {
            let cuts = table.cuts
            var open = cuts.filter { !table.isSettled($0.dot) }
            holding = cuts.map(\.dot).filter(table.isSettled)
            var void: Set<Dot> = []
            while !open.isEmpty {
                let attackers = open.map { cut in
                    cuts.filter { other in
                        !void.contains(other.dot) && table.isAttacked(cut, by: other)
                    }
                }
                let index: Int
                if let settled = open.indices.first(where: { place in
                    attackers[place].isEmpty || attackers[place].contains { holding.contains($0.dot) }
                }) {
                    index = settled
                } else {
                    // They make each other void: one has to begin.
                    index = open.indices.min { members.precede(open[$0].dot, open[$1].dot) } ?? 0
                    holding.append(open.remove(at: index).dot)
                    continue
                }
                if attackers[index].isEmpty { holding.append(open[index].dot) } else { void.insert(open[index].dot) }
                open.remove(at: index)
            }
            holding.sort()
        }
    }
}

extension MemberFacts {
    /// Whose word counts of two devices that revoke each other: who let the other in, and was not let in by it, else the
    /// lesser one.
    fileprivate func precede(_ left: Dot, _ right: Dot) -> Bool {
        let (one, other) = (left.replica.device, right.replica.device)
        if one == other { return left < right }
        let (down, up) = (leads(from: one, to: other), leads(from: other, to: one))
        return down == up ? one < other : down
    }
}
