extension BulkFrame {
    /// The maximum number of bytes it takes, so that large frames are written without growing.
    var byteCountBound: Int {
        let rest =
            switch self {
            case .want(let want): want.blobs.count * BlobName.byteCountBound
            case .unwant(let unwant): unwant.blobs.count * BlobName.byteCountBound
            case .hashes(let hashes): hashes.bytes.count
            case .chunk(let chunk): chunk.bytes.count
            case .smallRequest(let request): request.blobs.count * BlobName.byteCountBound
            case .smallBlobs(let small): small.blobs.reduce(0) { $0 + 5 + $1.bytes.count }
            case .holding(let holding):
                if case .chunks(let chunks) = holding.part { chunks.count / 8 } else { 0 }
            case .goodbye(let goodbye): goodbye.message.utf8.count
            case .hello, .hashesRequest, .request, .cancel, .refusal: 0
            }
        return 80 + rest
    }
}

extension [UInt8] {
    /// The kind, then the fields in the order that all frames keep to: id, space, blobs, the rest.
    mutating func append(_ frame: BulkFrame) {
        switch frame {
        case .hello(let hello):
            begin(.hello)
            append(varint: UInt64(hello.version))
            append(bigEndian: hello.features)
        case .want(let want): begin(.want, space: want.space, want.blobs)
        case .unwant(let unwant): begin(.unwant, unwant.blobs)
        case .holding(let holding):
            begin(.holding, [holding.blob])
            append(holding.part)
        case .hashesRequest(let request):
            begin(.hashesRequest, id: request.id, space: request.space, [request.blob])
            append(varint: UInt64(request.first))
        case .hashes(let hashes):
            begin(.hashes, id: hashes.id)
            self += hashes.bytes
        case .request(let request):
            begin(.request, id: request.id, space: request.space, [request.blob])
            append(varint: UInt64(request.first))
            append(varint: UInt64(request.count))
        case .cancel(let cancel): begin(.cancel, id: cancel.id)
        case .chunk(let chunk):
            begin(.chunk, id: chunk.id)
            append(varint: UInt64(chunk.index))
            self += chunk.bytes
        case .smallRequest(let request): begin(.smallRequest, id: request.id, space: request.space, request.blobs)
        case .smallBlobs(let small):
            begin(.smallBlobs, id: small.id)
            append(small)
        case .refusal(let refusal):
            begin(.refusal, id: refusal.id)
            append(refusal.reason.rawValue)
        case .goodbye(let goodbye):
            begin(.goodbye)
            append(lengthPrefixed: goodbye.code.utf8)
            self += goodbye.message.utf8
        }
    }

    private mutating func begin(
        _ kind: BulkFrameCodec.Kind, id: UInt64? = nil, space: SpaceID? = nil, _ blobs: [BlobName] = []
    ) {
        append(kind.rawValue)
        if let id { append(varint: id) }
        if let space { self += space.bytes }
        for blob in blobs { blob.append(to: &self) }
    }

    private mutating func append(_ part: BulkFrame.Holding.Part) {
        switch part {
        case .nothing: append(BulkFrameCodec.HoldingMark.nothing.rawValue)
        case .chunks(let chunks):
            append(BulkFrameCodec.HoldingMark.chunks.rawValue)
            self += chunks.bytes
        case .all: append(BulkFrameCodec.HoldingMark.all.rawValue)
        }
    }

    private mutating func append(_ small: BulkFrame.SmallBlobs) {
        append(small.isLast ? 1 : 0)
        for blob in small.blobs {
            append(varint: UInt64(blob.index))
            append(lengthPrefixed: blob.bytes)
        }
    }
}
