extension Histories {
    /// A check that failed.
    package struct Break: Hashable, Sendable, CustomStringConvertible {
        package enum Check: String, Sendable, CaseIterable {
            case boundLoses = "what a bound member holds became void"
            case acknowledgedUndone = "what all acknowledged is void"
            case heldDiffers = "complete nodes hold different changes"
            case shownDiffers = "complete nodes show different works"
            case workLost = "a work of a living device does not count"
            case workTwice = "a work counts twice"
            case notOnOwnScreen = "a device does not show its own work"
            case deletedUnseen = "a deletion ended what its author had not seen"
            case editMisplaced = "an edit hangs from a work that its author had not seen"
            case staysIncomplete = "an incomplete node finds no state"
            case twoHalves = "two halves let each other go"
            case endless = "devices never stop writing"
            case neverLetGo = "dead devices were never let go"
        }

        /// The kinds of histories that are known to break the rules that stand.
        package enum Kind: Int, Sendable, CaseIterable {
            case releaseForgotten = 1
            case onlyCopyIsState
            case proofsOnTwoBranches
            case contextOfOtherBranch
            case returnWithoutMajority
        }

        package let check: Check
        package let message: String
        /// Nil if no known kind explains it.
        package let kind: Kind?

        package var description: String { "\(check.rawValue): \(message)" }
    }
}

extension Histories.World {
    mutating func report(_ check: Histories.Break.Check, _ message: String) {
        guard !breaks.contains(where: { $0.check == check }) else { return }
        breaks.append(.init(check: check, message: message, kind: kind(of: check)))
    }

    /// The known kind of history that this is, judged by what was written and not by what broke alone.
    private mutating func kind(of check: Histories.Break.Check) -> Histories.Break.Kind? {
        let all = verdict(Bits(facts.indices))
        // A dead device may have released, unheard.
        let heard = living.first.map { verdict(nodes[$0].facts) } ?? all
        let isStuck = heard.live.contains { id, proposal in
            let missing = (proposal.waitsFor - proposal.bound) - Bits(living)
            return !proposal.isFinal && proposal.isRetired && !missing.isEmpty
                && proposal.devices.contains { heard.answers($0, id) }
        }
        if check == .workLost, isStuck { return .returnWithoutMajority }
        guard !restored.isEmpty else { return nil }
        if all.forks.keys.contains(where: { tips(all.floor & histories[$0]).count > 1 }) { return .proofsOnTwoBranches }
        switch check {
        case .boundLoses:
            let isForgotten = all.proposals.values.contains { !($0.bound & $0.released & restored).isEmpty }
            return isForgotten ? .releaseForgotten : nil
        case .staysIncomplete, .heldDiffers, .workLost:
            return living.contains { refilled.contains($0) || isIncomplete($0) } ? .onlyCopyIsState : nil
        case .deletedUnseen, .editMisplaced: return all.forks.isEmpty ? nil : .contextOfOtherBranch
        case .acknowledgedUndone, .shownDiffers, .workTwice, .notOnOwnScreen, .twoHalves, .neverLetGo, .endless:
            return nil
        }
    }

    /// True if the history need not go on. What was misread for a time changes no disk.
    package var isBroken: Bool { breaks.contains { $0.kind != .contextOfOtherBranch } }

    // MARK: At every moment

    /// Called before changes lose their effect on a disk.
    mutating func checkLoss(_ lost: Bits, of device: Device, _ verdict: Verdict) {
        for (id, proposal) in verdict.live
        where proposal.isFinal && proposal.waitsFor.contains(device) && !nodes[device].forgotten.contains(id) {
            let beyond = lost & ended(id, proposal) - proposal.named
            guard let change = beyond.first else { continue }
            report(.boundLoses, "\(Histories.name(device)) held \(describe(change)), which P\(id) ends")
        }
    }

    /// Checks what a device shows after a move.
    mutating func checkNow(_ device: Device) {
        guard nodes[device].isMember else { return }
        let verdict = verdict(nodes[device].facts)
        let undone = verdict.floor & void(verdict, on: device)
        if let change = undone.first { report(.acknowledgedUndone, "\(describe(change)) on \(Histories.name(device))") }
        let finals = verdict.proposals.values.filter(\.isFinal)
        for one in finals {
            for other in finals
            where (one.bound & other.bound).isEmpty && !(one.devices & other.bound).isEmpty
                && !verdict.returns.contains(where: { back in
                    [one, other].contains { $0.knows.contains(back.id) }
                })
            { report(.twoHalves, Histories.names(one.devices | other.devices)) }
        }
        guard !isIncomplete(device) else { return }
        let shown = shown(on: device)
        if let work = shown.unseen.first { report(.deletedUnseen, "work \(work) on \(Histories.name(device))") }
        if let work = shown.misplaced.first { report(.editMisplaced, "work \(work) on \(Histories.name(device))") }
        if let work = shown.twice.first { report(.workTwice, "work \(work) on \(Histories.name(device))") }
        let hidden = nodes[device].mine - shown.works - shown.deleted - nodes[device].aside
        if let work = hidden.first { report(.notOnOwnScreen, "work \(work) of \(Histories.name(device))") }
    }

    // MARK: In the end

    /// The works of living devices that a living device holds in any form.
    package func worksOfLiving() -> Bits {
        let living = Bits(living)
        let known = living.reduce(into: Bits()) { $0 |= nodes[$1].held | nodes[$1].kept }
        return Bits((known & changes(of: living)).compactMap { changes[$0].work })
    }

    /// Checks a world after its fair phase. `works` are those before it.
    package mutating func checkEnd(_ works: Bits) {
        let members = living.filter { verdict(nodes[$0].facts).members.contains($0) }
        let incomplete = members.filter { isIncomplete($0) }
        for device in incomplete { report(.staysIncomplete, Histories.name(device)) }
        let complete = members.filter { !incomplete.contains($0) }
        guard let first = complete.first else { return }
        let shown = shown(on: first)
        for device in complete.dropFirst() {
            let difference = (nodes[device].held - nodes[first].held) | (nodes[first].held - nodes[device].held)
            if let change = difference.first {
                report(.heldDiffers, "\(Histories.name(first)) and \(Histories.name(device)): \(describe(change))")
            }
            if self.shown(on: device) != shown { report(.shownDiffers, "\(Histories.name(device))") }
        }
        let lost = works - shown.works - shown.deleted - listed(shown)
        if let work = lost.first { report(.workLost, "work \(work)") }
        let known = verdict(nodes[first].facts)
        let dead = known.members - Bits(living) - known.gone
        if !dead.isEmpty, isMajority(first, over: dead, known) { report(.neverLetGo, Histories.names(dead)) }
    }

    /// Works that go with those of other devices from which they hang.
    private func listed(_ shown: Histories.Shown) -> Bits {
        changes.reduce(into: Bits()) { listed, change in
            guard case .edit(let target) = change.operation, let work = change.work, let origin = changes[target].work
            else { return }
            let isOwn = replicas[changes[target].replica].device == replicas[change.replica].device
            let hangs = shown.hanging.contains(work) || !shown.counting.contains(origin)
            if !isOwn && hangs || listed.contains(origin) { listed.insert(work) }
        }
    }

    package func describe(_ id: Int) -> String {
        let change = changes[id]
        return "\(Histories.name(replicas[change.replica].device)).\(change.replica):\(change.counter)"
    }
}
