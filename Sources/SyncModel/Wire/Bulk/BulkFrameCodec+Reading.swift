extension BulkFrameCodec {
    static func read(_ kind: Kind, _ reader: inout ByteReader) throws(CodecError) -> BulkFrame {
        switch kind {
        case .hello:
            .hello(
                BulkFrame.Hello(
                    version: try reader.uint32("bulk.hello.version"), features: try reader.bigEndianUInt64()))
        case .want: .want(BulkFrame.Want(space: try reader.space(), blobs: try reader.blobs("bulk.want.blobs")))
        case .unwant: .unwant(BulkFrame.Unwant(blobs: try reader.blobs("bulk.unwant.blobs")))
        case .holding: .holding(try reader.holding())
        case .hashesRequest:
            .hashesRequest(
                BulkFrame.HashesRequest(
                    id: try reader.varint(), space: try reader.space(), blob: try BlobName(reading: &reader),
                    first: try reader.uint32("bulk.hashes_request.first")))
        case .hashes: .hashes(BulkFrame.Hashes(id: try reader.varint(), bytes: try reader.rest()))
        case .request:
            .request(
                BulkFrame.Request(
                    id: try reader.varint(), space: try reader.space(), blob: try BlobName(reading: &reader),
                    first: try reader.uint32("bulk.request.first"), count: try reader.uint32("bulk.request.count")))
        case .cancel: .cancel(BulkFrame.Cancel(id: try reader.varint()))
        case .chunk:
            .chunk(
                BulkFrame.Chunk(
                    id: try reader.varint(), index: try reader.uint32("bulk.chunk.index"), bytes: try reader.rest()))
        case .smallRequest:
            .smallRequest(
                BulkFrame.SmallRequest(
                    id: try reader.varint(), space: try reader.space(),
                    blobs: try reader.blobs("bulk.small_request.blobs")))
        case .smallBlobs: .smallBlobs(try reader.smallBlobs())
        case .refusal: .refusal(BulkFrame.Refusal(id: try reader.varint(), reason: try reader.reason()))
        case .goodbye: .goodbye(try reader.goodbye())
        }
    }
}

extension ByteReader {
    fileprivate mutating func uint32(_ field: String) throws(CodecError) -> UInt32 {
        UInt32(try varint(upTo: UInt64(UInt32.max), field))
    }

    fileprivate mutating func space() throws(CodecError) -> SpaceID {
        guard let space = SpaceID(bytes: Array(bytes[try skip(SpaceID.byteCount)])) else { throw .truncated }
        return space
    }

    /// Returns the remaining bytes, copied as one block.
    fileprivate mutating func rest() throws(CodecError) -> [UInt8] { Array(bytes[try skip(remainingCount)]) }

    /// Reads the remaining names.
    fileprivate mutating func blobs(_ field: String) throws(CodecError) -> [BlobName] {
        var blobs: [BlobName] = []
        blobs.reserveCapacity(min(remainingCount / BlobName.leastByteCount, BulkLimits.blobsPerFrame))
        while !isAtEnd {
            guard blobs.count < BulkLimits.blobsPerFrame else { throw .outOfRange(field: field) }
            blobs.append(try BlobName(reading: &self))
        }
        return blobs
    }

    fileprivate mutating func holding() throws(CodecError) -> BulkFrame.Holding {
        let blob = try BlobName(reading: &self)
        guard let mark = BulkFrameCodec.HoldingMark(rawValue: try byte()) else {
            throw .outOfRange(field: "bulk.holding.part")
        }
        switch mark {
        case .nothing: return BulkFrame.Holding(blob: blob, part: .nothing)
        case .all: return BulkFrame.Holding(blob: blob, part: .all)
        case .chunks:
            guard let chunks = ChunkSet(bytes: try rest(), count: blob.layout.chunkCount) else {
                throw .outOfRange(field: "bulk.holding.chunks")
            }
            return BulkFrame.Holding(blob: blob, part: .chunks(chunks))
        }
    }

    fileprivate mutating func smallBlobs() throws(CodecError) -> BulkFrame.SmallBlobs {
        let id = try varint()
        let last = try byte()
        guard last <= 1 else { throw .outOfRange(field: "bulk.small_blobs.last") }
        var blobs: [BulkFrame.SmallBlobs.Blob] = []
        while !isAtEnd {
            // An empty one takes two bytes here and eight times that in memory.
            guard blobs.count < BulkLimits.blobsPerFrame else { throw .outOfRange(field: "bulk.small_blobs.blobs") }
            let index = try uint32("bulk.small_blobs.index")
            let range = try lengthPrefixed(upTo: BulkLimits.smallBytes, "bulk.small_blobs.bytes")
            blobs.append(BulkFrame.SmallBlobs.Blob(index: index, bytes: Array(bytes[range])))
        }
        return BulkFrame.SmallBlobs(id: id, blobs: blobs, isLast: last == 1)
    }

    fileprivate mutating func reason() throws(CodecError) -> BulkFrame.Refusal.Reason {
        guard let reason = BulkFrame.Refusal.Reason(rawValue: try byte()) else {
            throw .outOfRange(field: "bulk.refusal.reason")
        }
        return reason
    }

    fileprivate mutating func goodbye() throws(CodecError) -> Frame.Goodbye {
        let code = try lengthPrefixed(upTo: Limits.codeBytes, "goodbye.code")
        let message = try skip(remainingCount)
        guard let code = String(validating: bytes[code], as: UTF8.self) else {
            throw .outOfRange(field: "goodbye.code")
        }
        guard let message = String(validating: bytes[message], as: UTF8.self) else {
            throw .outOfRange(field: "goodbye.message")
        }
        return Frame.Goodbye(code: code, message: message)
    }
}
