import LawHistories
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// Records and blobs come and go at random; at every step the store says what a slow recount says.
@Suite("Random histories of fetching")
struct FetchHistoryTests {
    @Test(arguments: 1...12)
    func `what is missing is what a recount finds, on every road`(seed: Int) throws {
        var world = try FetchWorld(seed: UInt64(seed))
        for step in 0..<90 {
            let action = try world.step()
            try world.compare("seed \(seed), step \(step): \(action)")
        }
        #expect(world.mostMissing > 0, "seed \(seed) had something to find")
    }
}

private struct FetchWorld {
    private var random: SeededGenerator
    private let clock = SetClock()
    private let folder = CrashFolder()
    private let smallBytes: Int
    private let bed: StoreBed
    private var store: SQLiteStore
    private var blobs: BlobStore
    /// Another machine, which has no blobs.
    private let other: SQLiteStore
    private var derivations = 0
    private var opened: UInt64 = 1
    // The model.
    private var policy = FetchPolicy.all
    private var pins: Set<BlobName> = []
    private var whole: Set<BlobName> = []
    private(set) var mostMissing = 0

    private static let keys = ["box/1", "box/2", "box/3"]
    private static let files = (0..<9).map { String(repeating: "\($0)", count: 1 + $0 % 4) }

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        smallBytes = seed % 2 == 0 ? 0 : 64 << 10
        bed = StoreBed(seed % 3 == 0 ? .sqliteOfLargeObjects : .sqliteInTmpfs)
        store = try bed.open()
        other = try StoreBed(.memory, device: TestDevice(2)).open()
        let (clock, small) = (clock, smallBytes)
        blobs = try store.blobs(in: folder, clock: clock) { $0.smallBytes = small }
        let policy = ["deleteWins", "updateWins", "ask"][Int(seed) % 3]
        _ = try store.append(
            [[.addMember(TestDevice(1).fact)], [.addMember(TestDevice(2).fact)]], wallMilliseconds: 1)
        try store.write(.schema("box", #"{"deletePolicy":"\#(policy)"}"#))
        try other.pull(from: store)
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    mutating func step() throws -> String {
        clock.advance(by: Int64(below(5)))
        let wall = clock.now
        let file = pick(Self.files)
        switch below(24) {
        case 0..<8:
            let writes = try (0...below(4)).map { _ in LocalWrite.planned([try write(to: store)]) }
            _ = try store.append(writes, wallMilliseconds: wall)
            return "write"
        case 8..<10:
            let writes = try (0...below(4)).map { _ in LocalWrite.planned([try write(to: other)]) }
            _ = try other.append(writes, wallMilliseconds: wall)
            return "write apart"
        case 10..<13:
            let missing = try store.missing(from: other)
            if !missing.isEmpty { _ = try store.apply(missing, wallMilliseconds: wall) }
            try other.pull(from: store)
            return "exchange"
        case 13..<16: return try bring(file)
        case 16..<18: return try damage(file)
        case 18: return try sweep()
        case 19:
            policy = pick([.all, .upTo(UInt64(below(5))), .onDemand])
            try store.setFetchPolicy(policy, space: .home)
            return "policy \(policy)"
        case 20: return try pin(.named(file))
        case 21:
            let wasPinned = try isNamed(file) && pins.contains(.named(file))
            #expect(try store.unpin(.named(file), space: .home) == wasPinned)
            pins.remove(.named(file))
            return "unpin"
        case 22:
            bed.crash(store)
            return try reopen("crash")
        default:
            store.close()
            derivations += 1
            return try reopen("derive anew")
        }
    }

    private func isNamed(_ file: String) throws -> Bool { try !store.attachments(.ofBlob(.named(file))).isEmpty }

    private mutating func write(to store: SQLiteStore) throws -> ObjectWrite {
        let key = pick(Self.keys)
        switch below(10) {
        case 0..<6: return .attaching(ExactString(pick(Self.files)), to: key)
        case 6:
            guard let one = try store.attachments().dropFirst(below(3)).first else { return .putting(key, "{}") }
            return .detach(one.owner, attachment: one.attachment.id)
        case 7: return .deleting(key)
        case 8: return .resolving(key, .keep)
        default: return .putting(key, #"{"x":\#(below(3))}"#)
        }
    }

    // MARK: Blobs

    private mutating func bring(_ file: String) throws -> String {
        let bytes = AttachedFile.bytes(of: file)
        switch below(3) {
        case 0: _ = try blobs.add([bytes])
        case 1:
            if let partial = try blobs.begin(bytes) {
                try partial.write(0, of: bytes)
                try partial.complete()
            }
        default: _ = try blobs.receive([(.named(file), bytes), (.named("wrong"), bytes)])
        }
        if smallBytes > 0 || bytes.isEmpty { #expect(try blobs.status(of: .named(file)) == .whole) }
        try recordBytes()
        return "bring \(file)"
    }

    /// The model hears what became of the bytes.
    private mutating func recordBytes() throws {
        for file in Self.files {
            let isWhole = try blobs.status(of: .named(file)) == .whole
            if isWhole { whole.insert(.named(file)) } else { whole.remove(.named(file)) }
        }
    }

    private mutating func damage(_ file: String) throws -> String {
        folder.rot(.whole(BlobName.named(file).hash), at: 0)
        _ = try? blobs.bytes(of: .named(file))
        try recordBytes()
        return "damage \(file)"
    }

    private mutating func sweep() throws -> String {
        clock.advance(hours: 30)
        let before = try store.references(of: .home, after: nil, limit: .max)
        _ = try blobs.sweep()
        for reference in before where try store.reference(to: reference.blob, space: .home) == nil {
            #expect(!reference.isHeld)
            pins.remove(reference.blob)
        }
        for file in Self.files where try isNamed(file) && whole.contains(.named(file)) {
            #expect(try blobs.status(of: .named(file)) == .whole, "what a record names is not swept")
        }
        try recordBytes()
        return "sweep"
    }

    private mutating func pin(_ blob: BlobName) throws -> String {
        let isNamed = try !store.attachments(.ofBlob(blob)).isEmpty
        #expect(try store.pin(blob, space: .home) == isNamed)
        if isNamed { pins.insert(blob) }
        return "pin"
    }

    private mutating func reopen(_ what: String) throws -> String {
        let derivation = Array(repeating: "UPDATE space SET derived = 0;", count: derivations)
        store = try bed.open(schema: Schema(steps: Schema.current.steps + derivation))
        let (clock, small) = (clock, smallBytes)
        opened += 1
        blobs = try store.blobs(in: folder, clock: clock, run: opened) { $0.smallBytes = small }
        return what
    }

    // MARK: What must hold

    mutating func compare(_ comment: Comment) throws {
        var records: [BlobName: [SyncModel.Attachment]] = [:]
        for one in try store.attachments() { records[one.attachment.file.blob, default: []].append(one.attachment) }
        let missing = records.compactMap { blob, all -> MissingBlob? in
            guard !whole.contains(blob), let newest = all.map(\.stamp).max() else { return nil }
            return MissingBlob(blob: blob, stamp: newest)
        }
        let wanted = missing.filter { policy.wants(size: $0.blob.size) || pins.contains($0.blob) }.sorted()
        mostMissing = max(mostMissing, wanted.count)
        let except = Set(wanted.filter { _ in below(3) == 0 }.map(\.blob))
        let limit = below(4)
        let all = Self.files.map(BlobName.named)
        #expect(try store.missingBlobs(of: .home, except: [], limit: .max).map(\.asRecorded) == wanted, comment)
        let page = wanted.filter { !except.contains($0.blob) }.prefix(limit)
        let found = try store.missingBlobs(of: .home, except: except, limit: limit).map(\.asRecorded)
        #expect(found == Array(page), comment)
        #expect(try store.missingCount(of: .home) == wanted.count, comment)
        #expect(try store.allowed(all, space: .home) == all.filter { records[$0] != nil }, comment)
        for blob in all {
            let one = missing.first { $0.blob == blob }
            #expect(try store.missingBlob(blob, space: .home)?.asRecorded == one, comment)
            let isPinned = pins.contains(blob) && records[blob] != nil
            #expect(try store.isPinned(blob, space: .home) == isPinned, comment)
        }
    }
}

extension MissingBlob {
    /// Without what the bytes at rest say of it.
    fileprivate var asRecorded: MissingBlob { MissingBlob(blob: blob, stamp: stamp) }
}
