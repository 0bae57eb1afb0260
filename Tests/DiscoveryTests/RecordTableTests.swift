import SyncDiscovery
import Testing

@Suite struct RecordTableTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `a record that appears is looked up once and told once`() {
        var table = RecordTable()
        #expect(table.appeared(key(1), at: 0) == [.lookUp(key(1))])
        #expect(table.appeared(key(1), at: 0) == [])
        #expect(table.answered(key(1), record(1), at: 1) == [.report(.found(record(1)))])
        #expect(table.nextDeadline == nil)
        #expect(table.answered(key(1), record(1), at: 2) == [])
    }

    @Test func `a record that goes before it was looked up says nothing`() {
        var table = RecordTable()
        _ = table.appeared(key(1), at: 0)
        #expect(table.vanished(key(1), at: 1) == [.stopLookingUp(key(1))])
        #expect(table.answered(key(1), record(1), at: 2) == [])
        #expect(passAllDeadlines(&table, from: 2) == [])
        #expect(table.count == 0)
    }

    @Test func `a record that flaps a hundred times in ten seconds is told of at most once in two`() {
        var table = RecordTable()
        var events: [RecordTable.Action] = []
        for step in 0..<200 {
            let now = UInt64(step) * Self.second / 20
            let actions = step % 2 == 0 ? table.appeared(key(1), at: now) : table.vanished(key(1), at: now)
            events += follow(actions, &table, at: now) { record($0) }
            events += follow(table.passDeadlines(at: now), &table, at: now) { record($0) }
        }
        events += passAllDeadlines(&table, from: 10 * Self.second)
        #expect(events.count <= 6)
        #expect(events.last == .report(.lost(key(1))))
        #expect(table.count == 0)
    }

    @Test func `a record that comes back unchanged within the quiet time is not told again`() {
        var table = RecordTable()
        _ = follow(table.appeared(key(1), at: 0), &table, at: 0) { record($0) }
        #expect(table.vanished(key(1), at: 1) == [])
        #expect(table.appeared(key(1), at: 2) == [])
        #expect(table.nextDeadline == RecordTable.quietNanoseconds)
        let due = table.passDeadlines(at: RecordTable.quietNanoseconds)
        #expect(due == [.lookUp(key(1))])
        #expect(table.answered(key(1), record(1), at: 3 * Self.second) == [])
    }

    @Test func `a departure is told at once when the record was quiet`() {
        var table = RecordTable()
        _ = follow(table.appeared(key(1), at: 0), &table, at: 0) { record($0) }
        #expect(table.vanished(key(1), at: 3 * Self.second) == [.report(.lost(key(1)))])
    }

    @Test func `changed contents are told after a refresh`() {
        var table = RecordTable()
        _ = follow(table.appeared(key(1), at: 0), &table, at: 0) { record($0) }
        #expect(table.refresh(at: 1) == [])
        #expect(table.passDeadlines(at: RecordTable.quietNanoseconds) == [.lookUp(key(1))])
        let changed = record(1, port: 9)
        #expect(table.answered(key(1), changed, at: 3 * Self.second) == [.report(.found(changed))])
    }

    @Test func `a tag that changes is told at once, and one that changes all the time is looked up every two seconds`()
    {
        var table = RecordTable()
        _ = follow(table.appeared(key(1), at: 0), &table, at: 0) { record($0) }
        let later = RecordTable.changeQuietNanoseconds
        #expect(table.answered(key(1), record(1, port: 6), at: later) == [.report(.found(record(1, port: 6)))])
        #expect(table.answered(key(1), record(1, port: 7), at: later + 1) == [])
        #expect(table.answered(key(1), record(1, port: 8), at: later + 2) == [])
        #expect(table.passDeadlines(at: RecordTable.quietNanoseconds) == [.lookUp(key(1))])
        let last = record(1, port: 8)
        #expect(table.answered(key(1), last, at: RecordTable.quietNanoseconds) == [.report(.found(last))])
    }

    @Test func `a record nobody stands behind is asked for four times, ever later, then left alone`() {
        var table = RecordTable()
        var now: UInt64 = 0
        var lookUps: [UInt64] = []
        var actions = table.appeared(key(1), at: now)
        while actions == [.lookUp(key(1))] {
            lookUps.append(now / Self.second)
            _ = table.answered(key(1), nil, at: now)
            guard let deadline = table.nextDeadline else { break }
            now = deadline
            actions = table.passDeadlines(at: now)
        }
        #expect(lookUps == [0, 4, 12, 28])
        #expect(table.nextDeadline == nil)
        #expect(table.refresh(at: now + 60 * Self.second) == [.lookUp(key(1))])
    }

    @Test func `ten thousand forged records keep 256 at most and 64 look-ups, and a newcomer still gets in`() {
        var table = RecordTable()
        var shown: Set<RecordKey> = []
        func show(_ events: [RecordTable.Action]) {
            for case .report(let event) in events {
                if case .found(let record) = event { shown.insert(record.key) }
                if case .lost(let key) = event { shown.remove(key) }
            }
        }
        for number in 0..<10_000 {
            let now = UInt64(number) * 1_000_000
            show(follow(table.appeared(key(number), at: now), &table, at: now) { record($0) })
            #expect(table.count <= RecordTable.maximumRecords)
            #expect(shown.count <= RecordTable.maximumRecords)
        }
        #expect(shown.contains(key(9_999)))
        #expect(table.forgetAll().count == shown.count)
        #expect(table.count == 0)
    }

    @Test func `forged records that never answer leave room for one that does`() {
        var table = RecordTable()
        var asked: Set<RecordKey> = []
        for number in 0..<10_000 {
            for case .lookUp(let key) in table.appeared(key(number), at: UInt64(number)) { asked.insert(key) }
        }
        #expect(asked.count == RecordTable.maximumLookUps)
        #expect(table.count <= RecordTable.maximumRecords)
        // The daemon gives up on them, one after the other; the genuine one came last and has its turn.
        var now: UInt64 = 5 * Self.second
        while !asked.isEmpty && now < 60 * Self.second {
            var next: Set<RecordKey> = []
            for forged in asked {
                for case .lookUp(let key) in table.answered(forged, nil, at: now) { next.insert(key) }
            }
            if next.contains(key(9_999)) { return }
            asked = next
            now += 5 * Self.second
        }
        Issue.record("the last record was never looked up")
    }

    // MARK: What the tests say

    private func key(_ number: Int) -> RecordKey {
        RecordKey(instance: String(number), interfaceIndex: 2, family: .ipv4)
    }

    private func record(_ number: Int, port: UInt16 = 5000) -> DiscoveryRecord { record(key(number), port: port) }

    private func record(_ key: RecordKey, port: UInt16 = 5000) -> DiscoveryRecord {
        DiscoveryRecord(
            key: key, hostName: "h.local", interfaceName: "lan0", addresses: ["10.0.0.1"], port: port,
            text: DiscoveryText(version: 1, tag: nil))
    }

    /// Answers each look-up at once; returns what was reported.
    private func follow(
        _ actions: [RecordTable.Action], _ table: inout RecordTable, at now: UInt64,
        answer: (RecordKey) -> DiscoveryRecord?
    ) -> [RecordTable.Action] {
        actions.flatMap { action -> [RecordTable.Action] in
            switch action {
            case .lookUp(let key): follow(table.answered(key, answer(key), at: now), &table, at: now, answer: answer)
            case .stopLookingUp: []
            case .report: [action]
            }
        }
    }

    private func passAllDeadlines(_ table: inout RecordTable, from now: UInt64) -> [RecordTable.Action] {
        var events: [RecordTable.Action] = []
        var now = now
        while let deadline = table.nextDeadline {
            now = max(now, deadline)
            events += follow(table.passDeadlines(at: now), &table, at: now) { record($0) }
        }
        return events
    }
}
