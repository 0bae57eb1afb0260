import SyncModel

// What peers ask for: read a little ahead of what the transport takes, each request and each peer in turn.
extension BulkCore {
    // MARK: Requests

    mutating func handleRequest(_ index: Int, _ request: BulkFrame.Request) {
        let (first, count) = (Int(request.first), Int(request.count))
        serve(index, request.id, request.space, .chunks(request.blob, sent: first, next: first, end: first + count))
    }

    mutating func handleHashesRequest(_ index: Int, _ request: BulkFrame.HashesRequest) {
        serve(index, request.id, request.space, .hashes(request.blob, first: Int(request.first)))
    }

    mutating func handleSmallRequest(_ index: Int, _ request: BulkFrame.SmallRequest) {
        serve(index, request.id, request.space, .small(request.blobs, next: 0))
    }

    private mutating func serve(
        _ index: Int, _ id: UInt64, _ space: SpaceID, _ subject: BulkServing.Request.Subject
    ) {
        guard id > links[index].serving.lastRequestID else { return offend(index, .unexpectedFrame) }
        links[index].serving.lastRequestID = id
        links[index].lastUseAt = now
        guard space == configuration.space else { return refuse(index, id, .notAllowed) }
        guard links[index].serving.requests.count < BulkLimits.openRequests else { return refuse(index, id, .busy) }
        links[index].serving.requests.append(BulkServing.Request(id: id, subject: subject))
    }

    private mutating func refuse(_ index: Int, _ id: UInt64, _ reason: BulkFrame.Refusal.Reason) {
        // Who asks on and on without reading the answers would have them fill our memory.
        links[index].serving.refusalCount += 1
        guard links[index].serving.refusalCount <= 16 * BulkLimits.openRequests else {
            return offend(index, .overLimit)
        }
        send(index, .refusal(BulkFrame.Refusal(id: id, reason: reason)))
    }

    mutating func handleCancel(_ index: Int, _ cancel: BulkFrame.Cancel) {
        guard let place = requestPlace(index, cancel.id) else { return }
        endRequest(index, place)
    }

    mutating func handleWritten(_ id: ConnectionID, _ bytes: Int) {
        guard let index = linkIndex(id) else { return }
        links[index].serving.refusalCount = 0
        links[index].serving.bufferedBytes = max(0, links[index].serving.bufferedBytes - bytes)
    }

    private func requestPlace(_ index: Int, _ id: UInt64) -> Int? {
        links[index].serving.requests.firstIndex { $0.id == id }
    }

    private mutating func endRequest(_ index: Int, _ place: Int) {
        let request = links[index].serving.requests.remove(at: place)
        links[index].serving.readingBytes -= request.ready.values.reduce(0) { $0 + $1.count }
    }

    // MARK: Reading

    /// The most bytes that one read may bring.
    private static let readBytes = BlobLayout.chunkBytes

    mutating func pumpServing() {
        uploadAt = nil
        guard !links.isEmpty else { return }
        serveTurn = (serveTurn + 1) % links.count
        var isMoving = true
        while isMoving {
            isMoving = false
            for step in links.indices {
                let index = (serveTurn + step) % links.count
                guard links[index].state == .up else { continue }
                if lookUpNext(index) { isMoving = true }
                if readNext(index) { isMoving = true }
            }
        }
    }

    /// Starts one read for the request whose turn it is. Returns false if none can be started.
    private mutating func readNext(_ index: Int) -> Bool {
        let (serving, bounds) = (links[index].serving, configuration.bounds)
        guard serving.readCount < bounds.readsAhead, !serving.requests.isEmpty,
            serving.bufferedBytes + serving.readingBytes + Self.readBytes <= bounds.outboundBytes,
            let place = serving.requests.firstIndex(where: Self.hasToRead)
        else { return false }
        if let bucket = uploads {
            guard bucket.holds(Self.readBytes) else {
                uploadAt = bucket.time(of: Self.readBytes)
                return false
            }
            uploads?.take(Self.readBytes)
        }
        var request = links[index].serving.requests.remove(at: place)
        let id = ReadID(rawValue: nextID())
        let subject: BulkRead.Subject
        switch request.subject {
        case .chunks(let blob, let sent, let next, let end):
            subject = .chunk(next)
            request.subject = .chunks(blob, sent: sent, next: next + 1, end: end)
            effects.append(.readChunk(id, configuration.space, blob, chunk: next))
        case .hashes(let blob, let first):
            subject = .hashes
            effects.append(.readHashes(id, configuration.space, blob, first: first))
        case .small(let blobs, let next):
            subject = .small(first: next)
            effects.append(.readSmall(id, configuration.space, Array(blobs[next...])))
        }
        request.reads += 1
        // Its next turn is behind the others.
        links[index].serving.requests.append(request)
        links[index].serving.readCount += 1
        links[index].serving.readingBytes += Self.readBytes
        reads[id] = BulkRead(
            connection: links[index].id, request: request.id, subject: subject, tokens: Self.readBytes)
        return true
    }

    private static func hasToRead(_ request: BulkServing.Request) -> Bool {
        switch request.subject {
        case .chunks(_, _, let next, let end): next < end
        // What comes next depends on what the first read brings.
        case .hashes, .small: request.reads == 0
        }
    }

    /// The connection, and the request if it was not cancelled, for which something was read.
    private mutating func endRead(_ id: ReadID, byteCount: Int) -> (read: BulkRead, index: Int, place: Int)? {
        guard let read = reads.removeValue(forKey: id) else { return nil }
        uploads?.giveBack(read.tokens - byteCount)
        guard let index = linkIndex(read.connection), links[index].state == .up else { return nil }
        links[index].serving.readCount -= 1
        links[index].serving.readingBytes -= Self.readBytes
        guard let place = requestPlace(index, read.request) else { return nil }
        links[index].serving.requests[place].reads -= 1
        return (read, index, place)
    }

    mutating func handleChunkRead(_ id: ReadID, _ bytes: [UInt8]?, _ reason: BulkFrame.Refusal.Reason?) {
        guard let (read, index, place) = endRead(id, byteCount: bytes?.count ?? 0),
            case .chunk(let chunk) = read.subject,
            case .chunks(let blob, var sent, let next, let end) = links[index].serving.requests[place].subject
        else { return }
        guard let bytes else {
            endRequest(index, place)
            return refuse(index, read.request, reason ?? .unreadable)
        }
        links[index].serving.requests[place].ready[chunk] = bytes
        links[index].serving.readingBytes += bytes.count
        // In order, though two reads may overtake each other.
        while let bytes = links[index].serving.requests[place].ready.removeValue(forKey: sent) {
            links[index].serving.readingBytes -= bytes.count
            counters.chunksServed += 1
            send(index, .chunk(BulkFrame.Chunk(id: read.request, index: UInt32(sent), bytes: bytes)))
            sent += 1
        }
        links[index].serving.requests[place].subject = .chunks(blob, sent: sent, next: next, end: end)
        if sent == end { endRequest(index, place) }
    }

    mutating func handleHashesRead(_ id: ReadID, _ bytes: [UInt8]?) {
        guard let (read, index, place) = endRead(id, byteCount: bytes?.count ?? 0) else { return }
        endRequest(index, place)
        if let bytes, !bytes.isEmpty {
            send(index, .hashes(BulkFrame.Hashes(id: read.request, bytes: bytes)))
        } else {
            refuse(index, read.request, .notHeld)
        }
    }

    mutating func handleSmallRead(_ id: ReadID, _ found: [BulkFrame.SmallBlobs.Blob], next: Int) {
        guard
            let (read, index, place) = endRead(id, byteCount: found.reduce(0) { $0 + $1.bytes.count }),
            case .small(let first) = read.subject,
            case .small(let blobs, _) = links[index].serving.requests[place].subject
        else { return }
        // One that was looked at, at least, so that it comes to an end.
        let end = min(blobs.count, first + max(1, next))
        var here = Set<Int>()
        var answer: [BulkFrame.SmallBlobs.Blob] = []
        for blob in found where first + Int(blob.index) < end {
            here.insert(first + Int(blob.index))
            answer.append(.init(index: UInt32(first) + blob.index, bytes: blob.bytes))
        }
        for place in first..<end where !here.contains(place) { remember(index, blobs[place]) }
        counters.smallServed += answer.count
        let isLast = end == blobs.count
        if isLast || !answer.isEmpty {
            send(index, .smallBlobs(BulkFrame.SmallBlobs(id: read.request, blobs: answer, isLast: isLast)))
        }
        if isLast {
            endRequest(index, place)
        } else {
            links[index].serving.requests[place].subject = .small(blobs, next: end)
        }
    }

    mutating func endServing(_ index: Int) {
        let buffered = links[index].serving.bufferedBytes
        links[index].serving = BulkServing()
        links[index].serving.bufferedBytes = buffered
    }
}
