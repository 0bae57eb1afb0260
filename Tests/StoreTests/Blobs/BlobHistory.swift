import SyncModel
import SyncSimulator
import SyncStore

/// One thing that is done to a blob store, again and again until it is not refused.
enum BlobStep {
    case add([Int])
    /// These chunks of content `of`, in this order, and made durable.
    case receive([Int], of: Int)
    /// All chunks that are missing, and completed.
    case complete(Int)
    /// So many hours pass, and what nobody names goes.
    case sweep(hours: Int64, removing: [Int])
    /// A chunk of it changes on the disk, and is read.
    case rot(Int)
}

/// Steps whose result is known. Contents are known by their number; those named by records never go.
struct BlobHistory {
    static let contents: [[UInt8]] = [
        0, 300, 900, 5_000, 300_000, 600_000, 520_000, 550_000, 3_000, 270_000, 4_000, 280_000,
    ].enumerated().map { BlobBytes.some($1, seed: UInt64($0) + 1) }
    static let hashes = contents.map(BlobBytes.hash)
    /// Named by no record.
    static let unnamed: Set<Int> = [2, 8, 9, 10]

    let steps: [BlobStep] = [
        .add([0, 1, 2]), .add([3]), .add([3, 1]), .add([4]), .receive([2, 0], of: 5), .complete(5),
        .receive([1], of: 6), .add([6]), .receive([2], of: 7), .add([8]), .receive([0], of: 9),
        .sweep(hours: 48, removing: [2, 8, 9]), .add([8]), .rot(4), .complete(4), .add([10, 11]),
        .sweep(hours: 48, removing: [8, 10]), .complete(7),
    ]

    /// What must hold once the first few steps were acknowledged, and while the next is under way.
    struct Expectation {
        /// Readable, whatever happens.
        var whole: Set<Int> = []
        /// Chunks that were made durable.
        var chunks: [Int: Set<Int>] = [:]
        /// Found damaged perhaps.
        var rotten: Set<Int> = []
    }

    /// - Parameter isInside: the next step was begun.
    func expectation(after count: Int, isInside: Bool) -> Expectation {
        var expected = Expectation()
        for step in steps[..<count] {
            switch step {
            case .add(let contents): for content in contents { keep(content, &expected) }
            case .complete(let content): keep(content, &expected)
            case .receive(let chunks, let content): expected.chunks[content, default: []].formUnion(chunks)
            case .sweep(_, let removed): for content in removed { drop(content, &expected) }
            case .rot(let content):
                drop(content, &expected)
                expected.rotten.insert(content)
            }
        }
        guard isInside, count < steps.count else { return expected }
        switch steps[count] {
        case .sweep(_, let removed): for content in removed { drop(content, &expected) }
        case .rot(let content):
            drop(content, &expected)
            expected.rotten.insert(content)
        case .add, .complete, .receive: break
        }
        return expected
    }

    private func keep(_ content: Int, _ expected: inout Expectation) {
        expected.whole.insert(content)
        expected.chunks[content] = nil
        expected.rotten.remove(content)
    }

    private func drop(_ content: Int, _ expected: inout Expectation) {
        expected.whole.remove(content)
        expected.chunks[content] = nil
    }

    func perform(_ step: BlobStep, on blobs: BlobStore, _ clock: SetClock, _ folder: CrashFolder) throws(BlobError) {
        switch step {
        case .add(let contents): _ = try blobs.add(contents.map { Self.contents[$0] })
        case .receive(let chunks, let content):
            let bytes = Self.contents[content]
            guard let partial = try blobs.begin(bytes) else { return }
            for chunk in chunks { try partial.write(chunk, of: bytes) }
            try partial.checkpoint()
        case .complete(let content):
            let bytes = Self.contents[content]
            guard let partial = try blobs.begin(bytes) else { return }
            while let chunk = try partial.present().firstMissing(from: 0) { try partial.write(chunk, of: bytes) }
            try partial.complete()
        case .sweep(let hours, _):
            clock.advance(hours: hours)
            _ = try blobs.sweep()
        case .rot(let content):
            let hash = Self.hashes[content]
            guard try blobs.status(of: hash) == .whole else { return }
            if blobs.isRight(hash) { folder.rot(.whole(hash.hash), at: 10) }
            _ = blobs.isRight(hash)
        }
    }

    static func needs() -> NamedBlobs {
        let names = NamedBlobs()
        for (content, hash) in hashes.enumerated() {
            names.set(hash, unnamed.contains(content) ? .unneeded(since: 0) : .needed)
        }
        return names
    }

    // What is wrong

    /// What is wrong with a store of which so much is expected; nil: nothing.
    func finding(in blobs: BlobStore, _ folder: CrashFolder, _ expected: Expectation) throws -> String? {
        var claimed: UInt64 = 0
        for (content, hash) in Self.hashes.enumerated() {
            let status = try blobs.status(of: hash)
            if status != .missing { claimed += UInt64(Self.contents[content].count) }
            if expected.whole.contains(content), status != .whole { return "content \(content) is lost: \(status)" }
            if status == .whole {
                do throws(BlobError) {
                    let bytes = try blobs.bytes(of: hash)
                    if !BlobBytes.areSame(bytes, Self.contents[content]) { return "content \(content) is another one" }
                } catch .damaged where expected.rotten.contains(content) {
                    continue
                } catch {
                    return "content \(content) is said to be whole and is not: \(error)"
                }
            } else if let finding = try partialFinding(content, in: blobs, expected) {
                return finding
            }
        }
        if try blobs.usage().claimedBytes != claimed { return "what is here is counted otherwise" }
        return try strayFinding(in: blobs, folder)
    }

    private func partialFinding(
        _ content: Int, in blobs: BlobStore, _ expected: Expectation
    ) throws -> String? {
        let durable = expected.chunks[content] ?? []
        guard let partial = try blobs.resumePartial(Self.hashes[content]) else {
            return durable.isEmpty ? nil : "content \(content) lost all its chunks"
        }
        let present = try partial.present()
        if let lost = durable.first(where: { !present.contains($0) }) { return "content \(content) lost chunk \(lost)" }
        for chunk in 0..<partial.layout.chunkCount where present.contains(chunk) {
            let bytes = try partial.read(chunk)
            if !BlobBytes.areSame(bytes, BlobBytes.chunk(chunk, of: Self.contents[content])) {
                return "content \(content) has another chunk \(chunk)"
            }
        }
        return nil
    }

    private func strayFinding(in blobs: BlobStore, _ folder: CrashFolder) throws -> String? {
        _ = try blobs.sweepStrays()
        for name in try folder.names() {
            switch name {
            case .adding: return "an addition is left over"
            case .whole(let hash):
                if try blobs.wholeName(of: hash) == nil { return "a file without a row is left over" }
            case .partial(let hash):
                let partials = try blobs.partials(after: nil, limit: .max)
                if !partials.map(\.hash).contains(hash) { return "a partial file without a row is left over" }
            }
        }
        return nil
    }
}

extension BlobStore {
    fileprivate func isRight(_ hash: BlobName) -> Bool { (try? bytes(of: hash)) != nil }
}
