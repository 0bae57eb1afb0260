extension BulkFrame {
    /// Every bound on a frame's fields, for frames going out and coming in alike.
    func checkBounds() throws(WireError) {
        switch self {
        case .hello(let hello): try Self.require(hello.version > 0, "bulk.hello.version")
        case .want(let want): try Self.check(want.blobs, "bulk.want.blobs")
        case .unwant(let unwant): try Self.check(unwant.blobs, "bulk.unwant.blobs")
        case .holding(let holding): try holding.checkBounds()
        case .hashesRequest(let request): try request.checkBounds()
        case .hashes(let hashes): try hashes.checkBounds()
        case .request(let request): try request.checkBounds()
        case .cancel(let cancel): try Self.require(cancel.id > 0, "bulk.cancel.id")
        case .chunk(let chunk): try chunk.checkBounds()
        case .smallRequest(let request):
            try Self.require(request.id > 0, "bulk.small_request.id")
            try Self.check(request.blobs, "bulk.small_request.blobs")
            try Self.require(
                request.blobs.allSatisfy { $0.size <= BulkLimits.smallBytes }, "bulk.small_request.blobs")
        case .smallBlobs(let small): try small.checkBounds()
        case .refusal(let refusal): try Self.require(refusal.id > 0, "bulk.refusal.id")
        case .goodbye(let goodbye): try goodbye.checkBounds()
        }
    }

    fileprivate static func require(_ condition: Bool, _ field: String) throws(WireError) {
        guard condition else { throw .outOfRange(field: field) }
    }

    private static func check(_ blobs: [BlobName], _ field: String) throws(WireError) {
        try require((1...BulkLimits.blobsPerFrame).contains(blobs.count) && Set(blobs).count == blobs.count, field)
    }
}

extension BulkFrame.Holding {
    fileprivate func checkBounds() throws(WireError) {
        guard case .chunks(let chunks) = part else { return }
        try BulkFrame.require(chunks.count > 0 && chunks.count == blob.layout.chunkCount, "bulk.holding.chunks")
    }
}

extension BulkFrame.HashesRequest {
    fileprivate func checkBounds() throws(WireError) {
        try BulkFrame.require(id > 0, "bulk.hashes_request.id")
        try BulkFrame.require(
            first < BulkLimits.chunksPerBlob && Int(first) % BulkLimits.hashesPerFrame == 0,
            "bulk.hashes_request.first")
    }
}

extension BulkFrame.Hashes {
    fileprivate func checkBounds() throws(WireError) {
        try BulkFrame.require(id > 0, "bulk.hashes.id")
        let (count, rest) = bytes.count.quotientAndRemainder(dividingBy: BlobHash.byteCount)
        try BulkFrame.require(rest == 0 && (1...BulkLimits.hashesPerFrame).contains(count), "bulk.hashes.bytes")
    }
}

extension BulkFrame.Request {
    fileprivate func checkBounds() throws(WireError) {
        try BulkFrame.require(id > 0, "bulk.request.id")
        try BulkFrame.require(first < BulkLimits.chunksPerBlob, "bulk.request.first")
        let most = min(BulkLimits.chunksPerRequest, BulkLimits.chunksPerBlob - Int(first))
        try BulkFrame.require(count > 0 && count <= most, "bulk.request.count")
    }
}

extension BulkFrame.Chunk {
    fileprivate func checkBounds() throws(WireError) {
        try BulkFrame.require(id > 0, "bulk.chunk.id")
        try BulkFrame.require(index < BulkLimits.chunksPerBlob, "bulk.chunk.index")
        try BulkFrame.require((1...BlobLayout.chunkBytes).contains(bytes.count), "bulk.chunk.bytes")
    }
}

extension BulkFrame.SmallBlobs {
    fileprivate func checkBounds() throws(WireError) {
        try BulkFrame.require(id > 0, "bulk.small_blobs.id")
        // A frame without blobs is only worth its bytes as "that was all".
        try BulkFrame.require(!blobs.isEmpty || isLast, "bulk.small_blobs.blobs")
        var named = ChunkSet(count: BulkLimits.blobsPerFrame)
        var byteCount = 0
        for blob in blobs {
            try BulkFrame.require(
                blob.index < BulkLimits.blobsPerFrame && named.insert(Int(blob.index)), "bulk.small_blobs.index")
            try BulkFrame.require(blob.bytes.count <= BulkLimits.smallBytes, "bulk.small_blobs.bytes")
            byteCount += blob.bytes.count
        }
        try BulkFrame.require(byteCount <= BulkLimits.smallFrameBytes, "bulk.small_blobs.bytes")
    }
}
