extension CutTable {
    /// The cuts that hold, and where histories end because of them. It is the least fixed point: a change that counts may
    /// keep another change, and that one a third.
    struct Ends: Hashable, Sendable {
        /// Sorted.
        private var holding: [Dot] = []
        /// The counter up to which witnesses keep a replica in spite of a cut.
        private var kept: [Kept: UInt64] = [:]
        /// The devices that only facts the cut made void connect to its author, by cut; sorted. None of their changes count.
        private var hanging: [Dot: [DeviceID]] = [:]

        private struct Kept: Hashable, Sendable {
            let cut: Dot
            let replica: ReplicaID
        }

        init() {}

        init(_ table: CutTable, _ members: MemberFacts) {
            holding = Judgement(table, members).holding
            settle(table, members)
            // A device that is no member cannot cut another.
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

        /// Returns the devices that only void facts connect to the cut's author: none of their changes count.
        private func hangingDevices(_ cut: Cut, _ table: CutTable, _ members: MemberFacts) -> [DeviceID] {
            let author = cut.dot.replica.device
            // Facts written with knowledge of the cut admit the device again (`Return`), or admit a device the cut does not
            // concern.
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
            !table.isStrictlyVoid(dot) && end(of: dot.replica, table).map { dot.counter < $0 } ?? true
        }

        func end(of replica: ReplicaID, _ table: CutTable) -> UInt64? {
            let end = table.cuts.lazy.filter { concerns($0, replica.device) && !isExempt(replica, $0, table) }
                .map { $0.fact.device == replica.device ? self.end(of: replica, $0) : 0 }.min()
            guard let strictEnd = table.strictEnd(of: replica) else { return end }
            return min(end ?? .max, strictEnd)
        }

        /// A return lies in the past of what it exempts: this comes to an end.
        private func isExempt(_ replica: ReplicaID, _ cut: Cut, _ table: CutTable) -> Bool {
            table.exemptions.contains {
                $0.replica == replica && $0.reason.cut == cut.dot && counts($0.reason.addition, table)
            }
        }
    }

    /// The cuts that hold. A cut beyond its author's strict end is none: which that are may change, so their rows stay.
    ///
    /// - Settled cuts hold, whatever else arrives.
    /// - A cut that its author wrote beyond its own end does not hold.
    /// - Of two cuts that make each other void, or of more in a circle, one has to hold. Otherwise no member would be left to
    ///   admit the others again.
    private struct Judgement {
        private(set) var holding: [Dot] = []

        init(_ table: CutTable, _ members: MemberFacts) {
            // A retirement beyond a strict end holds in no case, settled or not.
            let cuts = table.cuts.filter { !table.isStrictlyVoid($0.dot) }
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
    /// True if the left cut takes precedence when two devices cut each other. The device that admitted the other, and was not
    /// admitted by it, comes first; otherwise the device with the lesser id.
    fileprivate func precede(_ left: Dot, _ right: Dot) -> Bool {
        let (one, other) = (left.replica.device, right.replica.device)
        if one == other { return left < right }
        let (down, up) = (leads(from: one, to: other), leads(from: other, to: one))
        return down == up ? one < other : down
    }
}
