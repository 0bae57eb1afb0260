import SyncCore
import SyncModel
import SyncStore

/// The words of members in a world that does not come to rest.
///
/// After a thief there may be no way left to bring all members to the same state (Decisions/36, "What is not solved"), nor where a
/// device has built on a history that would have to give way (Decisions/24). Then of each two that differ one says why, and
/// what they acknowledged is not lost.
struct Standstill: CustomStringConvertible {
    static let name = "none differs in silence"

    /// A reason for which two members may differ, as `status` or the list of peers says it.
    enum Word: String, Comparable {
        /// One of them cannot undo what became void.
        case incomplete
        /// They hold two histories that one device wrote under one name.
        case forked
        /// One refuses the other as revoked. One of them never heard of the recovery key, or of the statement that takes that back.
        case revoked
        /// They hold the same changes and show another state: deletions were forgotten while a device was out. Or one of them holds another
        /// history than a peer, and no changes to compare it by.
        case diverged

        static func < (left: Word, right: Word) -> Bool { left.rawValue < right.rawValue }
    }

    /// The members that say something, by their numbers.
    fileprivate(set) var words: [Int: Set<Word>] = [:]

    var description: String {
        words.sorted { $0.key < $1.key }
            .map { "node \($0.key) is \($0.value.sorted().map(\.rawValue).joined(separator: " and "))" }
            .joined(separator: ", ")
    }
}

extension World {
    /// The time at the end in which nothing may move any more.
    static let stillNanoseconds: Int64 = 20_000_000_000

    /// True if the world may end so.
    var mayStandStill: Bool { options.thieves != nil || options.reverts != nil }

    /// True if machines are put back while they run, and nodes exchange states.
    var isMixing: Bool { options.reverts != nil && options.states != nil }

    /// Ends the world here, if members have a reason not to come to rest.
    ///
    /// - Parameter isLate: true if time is up; false up to `stillNanoseconds` before.
    mutating func standStill(isLate: Bool) {
        let image = memberNodes.map { nodes[$0].core?.held.digest }
        guard isLate else {
            heldBefore = heldBefore ?? image
            return
        }
        guard image == heldBefore, !takesHonestForForked else { return }
        var found = Standstill()
        for right in memberNodes {
            for left in memberNodes where left < right && differ(left, right) {
                guard let reason = reason(left, right) else { return }
                found.words[reason.node, default: []].insert(reason.word)
            }
        }
        // All may be the same, and none whole.
        for node in memberNodes where isIncomplete(node) {
            guard mayStayIncomplete(node) else { return }
            found.words[node, default: []].insert(.incomplete)
        }
        let words = found.words.values.reduce(into: Set<Standstill.Word>()) { $0.formUnion($1) }
        guard !words.isEmpty, Set(image).count > 1 || words.contains(.revoked) || areRolesRight else { return }
        for (node, words) in found.words where words.contains(.incomplete) && !(nodes[node].core?.isIncomplete ?? false)
        {
            return fail(Standstill.name, "node \(node) is incomplete, and does not say so")
        }
        trace.record(now, 0, "does not come to rest: \(found)")
        standstill = found
    }

    // MARK: Reasons

    private func isIncomplete(_ node: Int) -> Bool { (try? nodes[node].store?.logState().isIncomplete) ?? false }

    /// True if no member can hand the node what it cannot undo: none is whole, writes, and holds as much.
    ///
    /// Only after a thief that was an admin or retired others, and where changes are held as state alone.
    private func mayStayIncomplete(_ node: Int) -> Bool {
        guard options.states != nil, let thieves = options.thieves, let thief = thieves.thief,
            thieves.roles[thief] == .admin || thieves.departures > 0, let held = nodes[node].core?.held
        else { return false }
        return !memberNodes.contains { other in
            guard other != node, !isIncomplete(other), !isReader(other), let theirs = nodes[other].core?.held else {
                return false
            }
            return theirs.covers(held)
        }
    }

    /// Returns an incomplete member that holds all that both of them hold: they hear of each other through it alone.
    private func incompleteBetween(_ cores: [AgentCore]) -> Int? {
        memberNodes.first { node in
            guard isIncomplete(node), let held = nodes[node].core?.held else { return false }
            return cores.allSatisfy { held.covers($0.held) }
        }
    }

    private func isForked(_ node: Int) -> Bool {
        nodes[node].core?.forkedReplicas.contains { options.forkers.contains($0.device) } ?? false
    }

    /// Returns a member that says so of two that hold two histories and do not know each other, or have no changes to compare.
    private func forkedBetween(_ left: Int, _ right: Int) -> Int? {
        let areConnected = nodes[left].core?.connectedDevices.contains(nodes[right].device.id) ?? false
        guard !areConnected || isMixing else { return nil }
        return forged(left) == forged(right) ? nil : memberNodes.first(where: isForked)
    }

    private var takesHonestForForked: Bool {
        memberNodes.contains {
            nodes[$0].core?.forkedReplicas.contains { !options.forkers.contains($0.device) } ?? false
        }
    }

    /// Returns the tips that a node holds of devices that wrote two histories.
    private func forged(_ node: Int) -> [TipTable.Entry] {
        (nodes[node].core?.held.entries ?? []).filter { options.forkers.contains($0.replica.device) }
    }

    /// True if the node never heard of the recovery key, and follows a thief in what it says of the founder.
    private func isDeaf(_ node: Int) -> Bool {
        guard options.thieves?.usesKey ?? false, let cuts = nodes[node].core?.cuts else { return false }
        return cuts.recoveryKey == nil && cuts.verdicts?.roles[nodes[0].device.id] != .admin
    }

    /// True if the node says that the other one is revoked, or is told so of itself when it dials the other.
    private func saysRevoked(_ node: Int, of other: Int) -> Bool {
        guard let core = nodes[node].core else { return false }
        let device = nodes[other].device.id
        return core.cuts.isBarred(device)
            || core.peers(at: Tick(nanoseconds: now)).contains {
                $0.device == device && $0.state != .connected && $0.lastFailure == "revoked"
            }
    }

    private func differ(_ left: Int, _ right: Int) -> Bool {
        let both = [left, right].map { nodes[$0] }
        let states = both.map { try? $0.store?.logState().digest }
        let roles = both.map { $0.core?.cuts.verdicts?.roles }
        return both[0].core?.held.digest != both[1].core?.held.digest || states[0] != states[1] || roles[0] != roles[1]
    }

    /// Returns why two members differ for good, and the one that says so; nil if there is no such reason.
    private func reason(_ left: Int, _ right: Int) -> (node: Int, word: Standstill.Word)? {
        let pair = [left, right]
        let cores = pair.compactMap { nodes[$0].core }
        guard cores.count == 2 else { return nil }
        let isSame = cores[0].held.digest == cores[1].held.digest
        // The same statements give the same roles.
        if isSame, cores[0].cuts.trust == cores[1].cuts.trust,
            cores[0].cuts.verdicts?.roles != cores[1].cuts.verdicts?.roles
        {
            return nil
        }
        if let node = pair.first(where: isIncomplete) { return (node, .incomplete) }
        if let node = pair.first(where: isForked), forged(left) != forged(right) { return (node, .forked) }
        if let node = forkedBetween(left, right) { return (node, .forked) }
        if !options.forkers.isEmpty || pair.contains(where: isDeaf),
            let node = pair.first(where: { saysRevoked($0, of: left + right - $0) })
        {
            return (node, .revoked)
        }
        if let node = incompleteBetween(cores) { return (node, .incomplete) }
        if isMixing, let node = pair.first(where: { !nodes[$0].diverged.isEmpty }) { return (node, .diverged) }
        // A machine that settled its history says so of who keeps the other, whatever else that one holds.
        guard options.reverts != nil || !readmittedLate.isEmpty && isSame else { return nil }
        return pair.first { nodes[$0].diverged.contains(nodes[left + right - $0].device.id) }.map { ($0, .diverged) }
    }

    // MARK: Checks

    /// Looks at the members where they stand: each for itself has to be right, unless it says that it is not.
    mutating func checkStandstill() {
        guard let standstill else { return }
        let saysDiverged = { (node: Int) in standstill.words[node]?.contains(.diverged) ?? false }
        for node in memberNodes where isMixing || !saysDiverged(node) {
            inspect(node, isThorough: true)
        }
        checkThieves()
        let ending = ending
        check { $0.stoodStill(ending) }
    }
}

extension TipTable {
    fileprivate func covers(_ other: TipTable) -> Bool {
        other.entries.allSatisfy { next(of: $0.replica) >= $0.tip.next }
    }
}
