/// The known records, the look-ups they need, and the reports about them. Pure: time comes in, actions come out.
///
/// A key goes `waiting → looking up → shown`; a loss leads out of each. Bounds: 256 keys (the oldest that is not being
/// looked up makes room), 64 unanswered look-ups at a time. Debounce: one look-up and one loss per key in 2 s, so a record
/// that flaps costs its owner one event in that time, and one that comes back unchanged none. An answered look-up stays
/// open: a record's tag changes the moment its owner becomes a member, and that is when others want to dial it.
package struct RecordTable {
    package enum Action: Equatable, Sendable {
        case lookUp(RecordKey)
        case stopLookingUp(RecordKey)
        case report(DiscoveryEvent)
    }

    package static let maximumRecords = 256
    package static let maximumLookUps = 64
    package static let quietNanoseconds: UInt64 = 2_000_000_000
    /// The time in which at most one change that an open look-up reports is passed on at once; further ones are looked up anew.
    /// looked up anew.
    package static let changeQuietNanoseconds: UInt64 = 250_000_000
    /// The failures in a row after which a record waits for `refresh` or for appearing anew.
    package static let maximumFailures = 4

    private struct Entry {
        let key: RecordKey
        var isPresent = true
        var needsLookUp = true
        var isLookingUp = false
        var shown: DiscoveryRecord?
        var failures = 0
        var quietUntil: UInt64 = 0
        var changeQuietUntil: UInt64 = 0
    }

    /// The entries in the order of arrival.
    private var entries: [Entry] = []
    /// Records that found no room, since start.
    package private(set) var refusedCount = 0

    package init() {}

    package var count: Int { entries.count }

    package mutating func appeared(_ key: RecordKey, at now: UInt64) -> [Action] {
        if let index = index(of: key) {
            if !entries[index].isPresent {
                entries[index].isPresent = true
                entries[index].needsLookUp = true
                entries[index].failures = 0
            }
            return passDeadlines(at: now)
        }
        var actions: [Action] = []
        if entries.count >= Self.maximumRecords {
            guard let displaced = makeRoom() else {
                refusedCount += 1
                return []
            }
            actions = displaced
        }
        entries.append(Entry(key: key))
        return actions + passDeadlines(at: now)
    }

    package mutating func vanished(_ key: RecordKey, at now: UInt64) -> [Action] {
        guard let index = index(of: key) else { return [] }
        let wasLookingUp = entries[index].isLookingUp
        entries[index].isPresent = false
        entries[index].needsLookUp = false
        entries[index].isLookingUp = false
        return (wasLookingUp ? [.stopLookingUp(key)] : []) + passDeadlines(at: now)
    }

    /// The answer to a `lookUp`, or a later word from one that is open; nil when there was none, or none that
    /// `RecordFilter` lets through: that look-up is over.
    package mutating func answered(_ key: RecordKey, _ record: DiscoveryRecord?, at now: UInt64) -> [Action] {
        guard let index = index(of: key), entries[index].isPresent else { return [] }
        let isLate = !entries[index].isLookingUp
        guard !isLate || entries[index].shown != nil else { return [] }
        entries[index].isLookingUp = false
        guard let record else {
            entries[index].failures += 1
            entries[index].needsLookUp = entries[index].failures < Self.maximumFailures
            entries[index].quietUntil = now + Self.quietNanoseconds << UInt64(entries[index].failures)
            return passDeadlines(at: now)
        }
        entries[index].failures = 0
        guard entries[index].shown != record else { return passDeadlines(at: now) }
        guard !isLate || entries[index].changeQuietUntil <= now else {
            entries[index].needsLookUp = true
            return passDeadlines(at: now)
        }
        entries[index].shown = record
        entries[index].changeQuietUntil = now + Self.changeQuietNanoseconds
        return [.report(.found(record))] + passDeadlines(at: now)
    }

    /// Looks every record up again: addresses and tags may have changed without a word.
    package mutating func refresh(at now: UInt64) -> [Action] {
        for index in entries.indices where entries[index].isPresent && !entries[index].isLookingUp {
            entries[index].needsLookUp = true
            entries[index].failures = 0
        }
        return passDeadlines(at: now)
    }

    /// Avahi went away and with it all it knew.
    package mutating func forgetAll() -> [Action] {
        defer { entries = [] }
        return entries.compactMap { $0.shown.map { .report(.lost($0.key)) } }
    }

    package var nextDeadline: UInt64? {
        let hasRoom = lookUpCount < Self.maximumLookUps
        return entries.lazy
            .filter { !$0.isPresent || ($0.needsLookUp && !$0.isLookingUp && hasRoom) }
            .map(\.quietUntil).min()
    }

    /// Does all that is due.
    package mutating func passDeadlines(at now: UInt64) -> [Action] {
        var actions: [Action] = []
        for index in entries.indices where !entries[index].isPresent && entries[index].quietUntil <= now {
            guard entries[index].shown != nil else { continue }
            entries[index].shown = nil
            entries[index].quietUntil = now + Self.quietNanoseconds
            actions.append(.report(.lost(entries[index].key)))
        }
        entries.removeAll { !$0.isPresent && $0.shown == nil && $0.quietUntil <= now }
        return actions + startLookUps(at: now)
    }

    /// Starts look-ups, those with the fewest failures first, so that records without an answering owner do not hold up the
    /// others.
    private mutating func startLookUps(at now: UInt64) -> [Action] {
        let free = Self.maximumLookUps - lookUpCount
        guard free > 0 else { return [] }
        let due = entries.indices.filter { index in
            entries[index].needsLookUp && !entries[index].isLookingUp && entries[index].quietUntil <= now
        }
        return due.sorted { (entries[$0].failures, $0) < (entries[$1].failures, $1) }.prefix(free).map { index in
            entries[index].isLookingUp = true
            entries[index].needsLookUp = false
            entries[index].quietUntil = now + Self.quietNanoseconds
            return .lookUp(entries[index].key)
        }
    }

    /// Removes the oldest entry that can go: a record is worth most when it is new, since then it leads to a dial.
    private mutating func makeRoom() -> [Action]? {
        let victim = entries.firstIndex { !$0.isPresent } ?? entries.firstIndex { !$0.isLookingUp }
        guard let victim else { return nil }
        return entries.remove(at: victim).shown.map { [.report(.lost($0.key))] } ?? []
    }

    private var lookUpCount: Int { entries.reduce(0) { $0 + ($1.isLookingUp ? 1 : 0) } }

    private func index(of key: RecordKey) -> Int? { entries.firstIndex { $0.key == key } }
}
