import SyncModel

extension BulkFrame {
    /// Those of PROTOCOL.md: about the blobs of its vectors, letters `a`, 300 of them and two chunks and one.
    static var examples: [(String, BulkFrame)] {
        func hasher(_ count: Int) -> BlobHasher {
            var hasher = BlobHasher()
            [UInt8](repeating: 0x61, count: count).withUnsafeBytes { hasher.update($0) }
            return hasher
        }
        var (none, small, large) = (hasher(0), hasher(300), hasher(2 * BlobLayout.chunkBytes + 1))
        let (empty, one, three) = (none.finish(), small.finish(), large.finish())
        var ends = ChunkSet(count: 3)
        ends.insert(0)
        ends.insert(2)
        let whole = [
            SmallBlobs.Blob(index: 0, bytes: [UInt8](repeating: 0x61, count: 300)),
            SmallBlobs.Blob(index: 1, bytes: []),
        ]
        return [
            ("hello", .hello(Hello(version: 1, features: 0x0102_0304_0506_0708))),
            ("want", .want(Want(space: .home, blobs: [one, three]))), ("unwant", .unwant(Unwant(blobs: [one]))),
            ("holding.nothing", .holding(Holding(blob: one, part: .nothing))),
            ("holding.chunks", .holding(Holding(blob: three, part: .chunks(ends)))),
            ("holding.all", .holding(Holding(blob: one, part: .all))),
            ("hashes_request", .hashesRequest(HashesRequest(id: 1, space: .home, blob: three, first: 0))),
            ("hashes", .hashes(Hashes(id: 1, bytes: large.chunks.flatMap(\.bytes)))),
            ("request", .request(Request(id: 2, space: .home, blob: three, first: 1, count: 2))),
            ("cancel", .cancel(Cancel(id: 2))), ("chunk", .chunk(Chunk(id: 2, index: 2, bytes: [0x61]))),
            ("small_request", .smallRequest(SmallRequest(id: 300, space: .home, blobs: [one, empty]))),
            ("small_blobs", .smallBlobs(SmallBlobs(id: 300, blobs: whole, isLast: true))),
            ("refusal", .refusal(Refusal(id: 300, reason: .notAllowed))),
            ("goodbye", .goodbye(Frame.Goodbye(code: "idle", message: "nothing was asked for a minute"))),
        ]
    }
}
