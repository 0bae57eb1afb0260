import LawHistories
import SyncCore
import SyncModel

/// What a node holds, as tables: every chunk has one byte for content, repeated; 0 is never right.
struct BulkDisk {
    var whole: Set<BlobName> = []
    /// Large ones whose hashes are known.
    var partial: [BlobName: ChunkSet] = [:]
    /// Of those, the ones that were looked at since the start: of others nothing is told.
    var opened: Set<BlobName> = []
    /// When what it was told is done.
    var freeAt: Int64 = 0

    /// Of a hundred chunks and small blobs that it serves so many are wrong.
    var lies = 0
    var liesAboutHashes = false
    /// The sizes that hashes cover, whatever records say. A disk that has another name of a hash lies about it.
    var truths: [BlobHash: UInt64] = [:]
    /// What it says it holds, and does not.
    var boasts: Set<BlobName> = []
    var isFull = false
    /// What one blob may have before the disk is full; and what is wrong with some.
    var freeBytes: UInt64 = .max
    var broken: Set<BlobName> = []
    /// What one blob may have.
    var quota: UInt64 = .max
    /// Chunks that it gave out wrong.
    var wrongCount = 0
    /// Rows of the transactions of small blobs.
    var batches: [Int] = []

    static func content(_ blob: BlobName, _ chunk: Int) -> UInt8 {
        UInt8((blob.hash.bytes.reduce(0) { $0 + Int($1) } &* 31 + chunk) % 255 + 1)
    }

    func has(_ blob: BlobName, _ chunk: Int) -> Bool {
        whole.contains(blob) || partial[blob]?.contains(chunk) ?? false
    }

    /// - Returns: what the core hears; nil: nothing.
    mutating func perform(_ effect: BulkEffect, random: inout SeededGenerator) -> BulkInput? {
        switch effect {
        case .begin(let blob, let hashes): return begin(blob, hashes)
        case .write(let blob, let chunk, let bytes):
            if isFull { return .chunkWritten(blob, chunk: chunk, .refused(code: "disk_full")) }
            guard partial[blob] != nil else { return .chunkWritten(blob, chunk: chunk, .refused(code: "not_begun")) }
            guard bytes.first == Self.content(blob, chunk) else { return .chunkWritten(blob, chunk: chunk, .wrong) }
            partial[blob]?.insert(chunk)
            return .chunkWritten(blob, chunk: chunk, .right)
        case .finish(let blob):
            guard partial[blob]?.isComplete == true else { return .finishFailed(blob, code: "incomplete") }
            whole.insert(blob)
            partial[blob] = nil
            return .finished(blob)
        case .writeSmall(let id, let blobs): return writeSmall(id, blobs)
        case .lookUp(let id, _, let blobs): return .lookedUp(id, blobs.compactMap(holding))
        case .readHashes(let id, _, let blob, let first): return .hashesRead(id, hashes(of: blob, from: first))
        case .readChunk(let id, _, let blob, let chunk):
            guard has(blob, chunk), chunk < blob.layout.chunkCount else { return .chunkRead(id, nil, .notHeld) }
            return .chunkRead(id, read(blob, chunk, blob.layout.range(of: chunk).count, &random), nil)
        case .readSmall(let id, _, let blobs): return readSmall(id, blobs, &random)
        case .putAside, .dial, .askForBulk, .send, .establish, .setReading, .close, .listMissing, .recordHolder,
            .progress,
            .nobodyHas, .report:
            return nil
        }
    }

    private mutating func begin(_ blob: BlobName, _ hashes: [UInt8]?) -> BulkInput {
        if let truth = truths[blob.hash], truth != blob.size, hashes != nil { return .hashesWrong(blob) }
        let layout = blob.layout
        if layout.size > quota { return .refused(blob, code: BulkConfiguration.quotaCode) }
        if isFull || layout.size > freeBytes { return .refused(blob, code: BulkConfiguration.diskFullCode) }
        if broken.contains(blob) { return .refused(blob, code: "disk_error") }
        if whole.contains(blob) {
            var all = ChunkSet(count: layout.chunkCount)
            for chunk in 0..<layout.chunkCount { all.insert(chunk) }
            partial[blob] = all
        }
        if let hashes {
            let right = (0..<layout.chunkCount).allSatisfy { chunk in
                hashes.count == 32 * layout.chunkCount && hashes[32 * chunk] == Self.content(blob, chunk)
            }
            guard right else { return .hashesWrong(blob) }
            if partial[blob] == nil { partial[blob] = ChunkSet(count: layout.chunkCount) }
        }
        guard let present = partial[blob] else { return .hashesMissing(blob) }
        opened.insert(blob)
        return .begun(blob, present: present)
    }

    private mutating func writeSmall(_ id: WriteID, _ blobs: [WholeBlob]) -> BulkInput {
        if isFull { return .smallWritten(id, right: [], wrong: [], code: "disk_full") }
        if blobs.contains(where: { $0.bytes.count > quota }) {
            return .smallWritten(id, right: [], wrong: [], code: BulkConfiguration.quotaCode)
        }
        batches.append(blobs.count)
        var (right, wrong) = ([BlobName](), [BlobName]())
        for blob in blobs {
            let isRight =
                blob.bytes.first.map { $0 == Self.content(blob.name, 0) } ?? true
                && truths[blob.name.hash].map { $0 == UInt64(blob.bytes.count) } ?? true
            if isRight { right.append(blob.name) } else { wrong.append(blob.name) }
        }
        whole.formUnion(right)
        return .smallWritten(id, right: right, wrong: wrong, code: nil)
    }

    private func holding(_ blob: BlobName) -> BulkFrame.Holding? {
        if whole.contains(blob) || boasts.contains(blob) { return BulkFrame.Holding(blob: blob, part: .all) }
        guard opened.contains(blob) else { return nil }
        return partial[blob].flatMap {
            $0.presentCount > 0 ? BulkFrame.Holding(blob: blob, part: .chunks($0)) : nil
        }
    }

    private func hashes(of blob: BlobName, from first: Int) -> [UInt8]? {
        let count = blob.layout.chunkCount
        guard whole.contains(blob) || partial[blob] != nil, first < count else { return nil }
        let end = min(count, first + BulkLimits.hashesPerFrame)
        return (first..<end).flatMap { chunk in
            [UInt8](repeating: liesAboutHashes ? 0 : Self.content(blob, chunk), count: 32)
        }
    }

    private mutating func read(
        _ blob: BlobName, _ chunk: Int, _ count: Int, _ random: inout SeededGenerator
    ) -> [UInt8] {
        let isWrong = lies > 0 && random.below(100) < lies
        if isWrong { wrongCount += 1 }
        return [UInt8](repeating: isWrong ? 0 : Self.content(blob, chunk), count: count)
    }

    private mutating func readSmall(
        _ id: ReadID, _ blobs: [BlobName], _ random: inout SeededGenerator
    ) -> BulkInput {
        var (found, bytes, next) = ([BulkFrame.SmallBlobs.Blob](), 0, 0)
        for (place, blob) in blobs.enumerated() {
            let size = whole.contains(blob) ? Int(blob.size) : 0
            guard next == 0 || bytes + size <= BulkLimits.smallFrameBytes else { break }
            bytes += size
            next = place + 1
            guard whole.contains(blob) else { continue }
            found.append(.init(index: UInt32(place), bytes: read(blob, 0, size, &random)))
        }
        return .smallRead(id, found, next: next)
    }
}
