import SyncModel

extension SeededGenerator {
    /// Of every kind, at most a few hundred bytes.
    mutating func bulkFrame() -> BulkFrame {
        switch next() % 13 {
        case 0: .hello(BulkFrame.Hello(version: UInt32(edgy(below: 1 << 31)) + 1, features: next()))
        case 1: .want(BulkFrame.Want(space: space(), blobs: blobs()))
        case 2: .unwant(BulkFrame.Unwant(blobs: blobs()))
        case 3: .holding(holding())
        case 4:
            .hashesRequest(
                BulkFrame.HashesRequest(
                    id: requestID(), space: space(), blob: blob(),
                    first: UInt32(next() % 8) * UInt32(BulkLimits.hashesPerFrame)))
        case 5:
            .hashes(BulkFrame.Hashes(id: requestID(), bytes: bytes(Int.random(in: 1..<6, using: &self) * 32)))
        case 6:
            .request(
                BulkFrame.Request(
                    id: requestID(), space: space(), blob: blob(), first: UInt32(edgy(below: 65_473)),
                    count: UInt32.random(in: 1...64, using: &self)))
        case 7: .cancel(BulkFrame.Cancel(id: requestID()))
        case 8:
            .chunk(
                BulkFrame.Chunk(
                    id: requestID(), index: UInt32(edgy(below: 65_536)),
                    bytes: bytes(Int.random(in: 1..<200, using: &self))))
        case 9: .smallRequest(BulkFrame.SmallRequest(id: requestID(), space: space(), blobs: smallNames()))
        case 10: .smallBlobs(smallBlobs())
        case 11:
            .refusal(
                BulkFrame.Refusal(
                    id: requestID(), reason: BulkFrame.Refusal.Reason.allCases.randomElement(using: &self) ?? .busy))
        default: .goodbye(Frame.Goodbye(code: "frame_malformed", message: chance(30) ? "" : "é\(next())"))
        }
    }

    mutating func blob() -> BlobName { BlobName(hash(), size: edgy(below: BlobLayout.sizeLimit)) }

    mutating func smallName() -> BlobName { BlobName(hash(), size: edgy(below: UInt64(BulkLimits.smallBytes) + 1)) }

    private mutating func hash() -> BlobHash { BlobHash(bytes: bytes(BlobHash.byteCount))! }

    private mutating func requestID() -> UInt64 { edgy(below: .max) + 1 }

    private mutating func space() -> SpaceID { chance(80) ? .home : SpaceID(bytes: bytes(SpaceID.byteCount))! }

    private mutating func blobs() -> [BlobName] { (0..<Int.random(in: 1..<6, using: &self)).map { _ in blob() } }

    private mutating func smallNames() -> [BlobName] {
        (0..<Int.random(in: 1..<6, using: &self)).map { _ in smallName() }
    }

    private mutating func holding() -> BulkFrame.Holding {
        switch next() % 4 {
        case 0: return BulkFrame.Holding(blob: blob(), part: .nothing)
        case 1: return BulkFrame.Holding(blob: blob(), part: .all)
        default:
            var chunks = ChunkSet(count: Int.random(in: 1..<600, using: &self))
            for chunk in 0..<chunks.count where chance(50) { chunks.insert(chunk) }
            let whole = UInt64(chunks.count) * UInt64(BlobLayout.chunkBytes)
            let blob = BlobName(hash(), size: whole - edgy(below: UInt64(BlobLayout.chunkBytes)))
            return BulkFrame.Holding(blob: blob, part: .chunks(chunks))
        }
    }

    private mutating func smallBlobs() -> BulkFrame.SmallBlobs {
        let isLast = chance(50)
        let indexes = (0..<UInt32(BulkLimits.blobsPerFrame)).shuffled(using: &self)
        return BulkFrame.SmallBlobs(
            id: requestID(),
            blobs: indexes.prefix(Int.random(in: (isLast ? 0 : 1)..<5, using: &self)).map {
                BulkFrame.SmallBlobs.Blob(index: $0, bytes: bytes(Int.random(in: 0..<60, using: &self)))
            }, isLast: isLast)
    }
}
