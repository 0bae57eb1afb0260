import SyncModel

/// The tips that a peer claims on a session, with an index of what this side lacks of them.
///
/// A peer may claim thousands of replicas that no device has. The index moves with the claims and with what is held here, so
/// no step walks the claims: they cost something when they are made.
///
/// Invariants: `operations` counts all that is claimed, `lacking` what of it is not held here. `unfinished` and `unknown` are
/// the replicas of known authors of which more is claimed than is held: some of it is, or nothing.
struct PeerClaims: Sendable {
    private(set) var tips = TipTable()
    private(set) var operations: UInt64 = 0
    private(set) var lacking: UInt64 = 0
    private(set) var unfinished = SortedReplicas()
    private(set) var unknown = SortedReplicas()
    /// Replicas of which the claim, or what is held, moved since they were last compared.
    private var moved: Set<ReplicaID> = []

    /// Takes what a peer says; `isComplete`: it is all that it holds.
    mutating func take(
        _ entries: [TipTable.Entry], isComplete: Bool, held: TipTable, isAuthor: (DeviceID) -> Bool
    ) {
        if isComplete { tips = TipTable() }
        guard isComplete || entries.count > 8 else {
            for entry in entries { set(entry, held: held, isAuthor: isAuthor) }
            return
        }
        tips.set(all: entries)
        rebuild(held: held, isAuthor: isAuthor)
    }

    /// The peer holds exactly what is held here.
    mutating func agree(with held: TipTable) {
        tips = held
        operations = held.operations(beyond: TipTable())
        (lacking, unfinished, unknown) = (0, SortedReplicas(), SortedReplicas())
        moved = Set(held.entries.map(\.replica))
    }

    /// Raises a claim: the peer holds at least what it sent.
    mutating func advance(
        _ replica: ReplicaID, _ tip: ReplicaTip, held: TipTable, isAuthor: (DeviceID) -> Bool
    ) {
        guard tips.next(of: replica) < tip.next else { return }
        set(TipTable.Entry(replica: replica, tip: tip), held: held, isAuthor: isAuthor)
    }

    /// Records that more of a replica is held here than before.
    mutating func recordHeld(_ replica: ReplicaID, from before: UInt64, to now: UInt64) {
        let claimed = tips.next(of: replica)
        guard claimed > 0 else { return }
        moved.insert(replica)
        guard claimed > before else { return }
        lacking = lacking &- (claimed - before)
        unknown.remove(replica)
        if claimed > now {
            lacking = lacking &+ (claimed - now)
            unfinished.insert(replica)
        } else {
            unfinished.remove(replica)
        }
    }

    /// A device became an author: what is claimed of its replicas may be asked for.
    mutating func recordAuthor(_ device: DeviceID, held: TipTable) {
        for entry in tips.entries(of: device) { index(entry, held: held.next(of: entry.replica)) }
    }

    /// Returns the replicas that moved since the last call, sorted.
    mutating func takeMoved() -> [ReplicaID] {
        defer { moved = [] }
        return moved.sorted()
    }

    private mutating func set(_ entry: TipTable.Entry, held: TipTable, isAuthor: (DeviceID) -> Bool) {
        let (replica, now) = (entry.replica, entry.tip.next)
        let (before, ours) = (tips.next(of: replica), held.next(of: replica))
        tips.set(replica, entry.tip)
        moved.insert(replica)
        operations = operations &- before &+ now
        lacking = lacking &- (before > ours ? before - ours : 0) &+ (now > ours ? now - ours : 0)
        unfinished.remove(replica)
        unknown.remove(replica)
        if isAuthor(replica.device) { index(entry, held: ours) }
    }

    private mutating func index(_ entry: TipTable.Entry, held ours: UInt64) {
        guard entry.tip.next > ours else { return }
        if ours > 0 { unfinished.insert(entry.replica) } else { unknown.insert(entry.replica) }
    }

    private mutating func rebuild(held: TipTable, isAuthor: (DeviceID) -> Bool) {
        (operations, lacking) = (0, 0)
        var (some, none): ([ReplicaID], [ReplicaID]) = ([], [])
        var author: (device: DeviceID, isKnown: Bool)?
        for entry in tips.entries {
            let ours = held.next(of: entry.replica)
            operations = operations &+ entry.tip.next
            moved.insert(entry.replica)
            guard entry.tip.next > ours else { continue }
            lacking = lacking &+ (entry.tip.next - ours)
            let device = entry.replica.device
            if author?.device != device { author = (device, isAuthor(device)) }
            guard author?.isKnown ?? false else { continue }
            if ours > 0 { some.append(entry.replica) } else { none.append(entry.replica) }
        }
        (unfinished, unknown) = (SortedReplicas(ascending: some), SortedReplicas(ascending: none))
    }
}

/// Replicas in their order, each once.
struct SortedReplicas: Sendable, Equatable {
    private(set) var elements: [ReplicaID] = []

    init() {}

    init(ascending elements: [ReplicaID]) { self.elements = elements }

    mutating func insert(_ replica: ReplicaID) {
        let index = firstIndex { !($0 < replica) }
        if index == elements.count || elements[index] != replica { elements.insert(replica, at: index) }
    }

    mutating func remove(_ replica: ReplicaID) {
        let index = firstIndex { !($0 < replica) }
        if index < elements.count, elements[index] == replica { elements.remove(at: index) }
    }

    /// True if the condition holds for one of the device's replicas.
    func contains(of device: DeviceID, where holds: (ReplicaID) -> Bool) -> Bool {
        let first = firstIndex { !($0 < ReplicaID(device: device, incarnation: 0)) }
        return elements[first...].prefix { $0.device == device }.contains(where: holds)
    }

    /// Returns the index of the first replica behind all replicas of the device.
    func index(behind device: DeviceID) -> Int { firstIndex { device < $0.device } }

    /// Returns the first index where the condition holds, by binary search.
    private func firstIndex(where holds: (ReplicaID) -> Bool) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if holds(elements[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
