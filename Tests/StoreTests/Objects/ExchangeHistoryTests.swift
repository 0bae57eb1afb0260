import SyncModel
import SyncStore
import Testing

/// Machines that write objects apart and hear of each other in random causal order, each of them twice, with stores that keep
/// their files and objects in two ways.
@Suite("Random histories of objects")
struct ExchangeHistoryTests {
    @Test(arguments: 1...16)
    func `stores of both kinds agree at every step, and all machines in the end`(seed: Int) throws {
        var world = try ObjectWorld(seed: UInt64(seed), machineCount: 2 + seed % 2)
        for step in 0..<70 {
            let action = try world.step()
            try world.compare("seed \(seed), step \(step): \(action)")
        }
        try world.converge("seed \(seed)")
    }
}

private struct ObjectWorld {
    private var writes: RandomWrites
    /// Two for each machine.
    private let beds: [[StoreBed]]
    private var stores: [[SQLiteStore]]
    private var wall: Int64 = 1_000

    init(seed: UInt64, machineCount: Int) throws {
        writes = RandomWrites(seed: seed)
        beds = (1...machineCount).map { number in
            [StoreKind.memory, seed % 2 == 0 ? .sqliteInTmpfs : .sqliteOfLargeObjects].map {
                StoreBed($0, device: TestDevice(UInt8(number)))
            }
        }
        stores = try beds.map { try $0.map { try $0.open() } }
        // The last machine hears of the others, and they of it, only when somebody writes it down later.
        let known = beds.dropLast(seed % 3 == 0 ? 1 : 0).map { $0[0].device.fact }
        for store in stores[0] { _ = try store.append(known.map { [.addMember($0)] }, wallMilliseconds: 1) }
    }

    private mutating func below(_ bound: Int) -> Int { writes.below(bound) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { writes.pick(elements) }

    mutating func step() throws -> String {
        wall += Int64(below(4)) - 1
        let machine = below(stores.count)
        let wall = wall
        switch below(20) {
        case 0..<11:
            let batch = (0...below(5)).map { _ in writes.write(on: stores[machine][0]) }
            return try both(machine, "append") { "\(try $0.append(batch, wallMilliseconds: wall).outcomes)" }
        case 11..<17: return try deliver(to: machine)
        case 17:
            for (bed, store) in zip(beds[machine], stores[machine]) { bed.crash(store) }
            return try reopen(machine, "crash")
        case 18:
            for store in stores[machine] { store.close() }
            beds[machine].forEach { $0.reboot() }
            return try reopen(machine, "reboot")
        default:
            let fact = beds[below(beds.count)][0].device.fact
            return try both(machine, "let in") {
                _ = try $0.append([[.addMember(fact)]], wallMilliseconds: wall)
                return ""
            }
        }
    }

    private mutating func reopen(_ machine: Int, _ what: String) throws -> String {
        stores[machine] = try beds[machine].map { try $0.open() }
        return what
    }

    private func both(
        _ machine: Int, _ what: String, _ body: (SQLiteStore) throws -> String
    ) throws -> String {
        let results = try stores[machine].map(body)
        #expect(results[0] == results[1], "\(what) on \(machine)")
        return what
    }

    /// What another machine has arrives in some order its contexts allow, in transactions of some sizes, perhaps in part.
    private mutating func deliver(to machine: Int) throws -> String {
        let source = below(stores.count)
        guard source != machine else { return "nothing" }
        var random = writes.random
        var missing = try stores[machine][0].missing(from: stores[source][1]) { Int.random(in: 0..<$0, using: &random) }
        writes.random = random
        if below(3) == 0 { missing.removeLast(min(missing.count, below(3))) }
        while !missing.isEmpty {
            let size = min(missing.count, 1 + below(6))
            for store in stores[machine] { _ = try store.apply(Array(missing[..<size]), wallMilliseconds: 0) }
            missing.removeFirst(size)
        }
        return "deliver \(source) to \(machine)"
    }

    // MARK: Comparing

    mutating func compare(_ comment: String) throws {
        for pair in stores {
            let state = try pair[0].state()
            #expect(try pair[1].state() == state, "\(comment)")
            for store in pair {
                #expect(try store.recomputedDigest(of: .home) == state.digest, "\(comment)")
                try store.expectTrueReferences("\(comment)")
            }
            try same(pair, comment) { try $0.members() }
            try same(pair, comment) { try $0.objectPosition() }
            try same(pair, comment) { try $0.collections(of: .home) }
            for name in RandomWrites.names {
                try same(pair, comment) { try $0.object(name) }
                try same(pair, comment) { try $0.touches(of: ObjectKey(name), space: .home) }
            }
            let standing: ObjectQuery.Selection = pick([
                .standing(.live), .standing(.deleted), .standing(.undecided), .conflicted,
            ])
            let (after, limit) = (pick([nil, "a/1", "a/9", "b/1"]), 1 + below(4))
            try same(pair, comment) { try $0.find(["a", "b", nil][limit % 3], standing, after: after, limit: limit) }
            for field in ["r", "n", "d", "v"] {
                let value = pick([0, 1, 2, 3, "1", "2"] as [JSONValue])
                try same(pair, comment) { try $0.find("a", where: field, is: value) }
            }
            for name in RandomWrites.names {
                try same(pair, comment) { try $0.attachments(.ofObject(ObjectKey(name))) }
            }
            let all = try pair[0].attachments()
            try same(pair, comment) { try $0.attachments() }
            try same(pair, comment) { try $0.references(of: .home, after: nil, limit: .max) }
            try same(pair, comment) { try $0.releasedBlobs(of: .home, before: .max, limit: limit) }
            if !all.isEmpty {
                let one = pick(all).attachment
                let prefix = String(one.label.lowercased().prefix(below(4)))
                try same(pair, comment) { try $0.attachments(.labelled(prefix), limit: limit) }
                try same(pair, comment) { try $0.attachments(.ofBlob(one.file.blob), after: one.key) }
                try same(pair, comment) { try $0.attachments(after: one.key, limit: limit) }
            }
            let position = Int64(below(1 + Int(try pair[0].objectPosition())))
            try same(pair, comment) {
                try $0.changedObjects(of: nil, space: .home, after: position, limit: limit)
            }
        }
    }

    private func same<Value: Equatable>(
        _ pair: [SQLiteStore], _ comment: String, _ body: (SQLiteStore) throws -> Value
    ) throws {
        let values = try pair.map(body)
        #expect(values[0] == values[1], "\(comment)")
    }

    /// Everything goes everywhere: then all show the same and keep the same.
    mutating func converge(_ comment: String) throws {
        for _ in 0..<2 {
            for machine in stores.indices {
                for source in stores.indices where source != machine {
                    for store in stores[machine] { try store.pull(from: stores[source][0]) }
                }
            }
        }
        try compare("\(comment), converged")
        let first = stores[0][0]
        for pair in stores.dropFirst() {
            #expect(try pair[1].vector == first.vector, "\(comment)")
            #expect(try pair[1].state().digest == first.state().digest, "\(comment)")
            #expect(try pair[1].state().counts == first.state().counts, "\(comment)")
            for name in RandomWrites.names {
                #expect(try pair[1].object(name)?.state == first.object(name)?.state, "\(comment), \(name)")
            }
        }
    }
}
