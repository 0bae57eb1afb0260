package import SyncModel

/// The choice of chunks to ask a peer for, among the large blobs at work: it knows the holders, the stored chunks, and the
/// chunks asked for.
///
/// No chunk is given out that is stored or that a peer was asked for. Blobs that a user waits for go first. Among equals each
/// gets a stretch in turn, so that none waits for another to be whole. The amount to ask of each peer, and when a peer is too
/// slow, is decided elsewhere.
///
/// Bounds: two sets of chunks (8 KiB at most) for each blob at work and one for each of its holders. The next stretch is found
/// a word of 64 chunks at a time, behind all that was given out in order; a holder that has nothing left is not searched again
/// before it says more, or a request was cancelled.
package struct FetchPlanner: Sendable {
    private struct Holder: Sendable {
        /// The chunks that the peer holds; nil: all of them.
        var chunks: ChunkSet?
        /// True if the peer has nothing that was not given out.
        var isSpent = false
    }

    private struct Work: Sendable {
        var rank: FetchRank
        var present: ChunkSet
        /// The chunks that are present, asked for, or on the way to the disk.
        var claimed: ChunkSet
        /// The first chunk that may be unclaimed: all before it are claimed.
        var firstFree = 0
        var holders: [DeviceID: Holder] = [:]
        /// The turn in which the blob was served last; counts turns.
        var lastTurn: UInt64 = 0

        func stretch(from peer: DeviceID, limit: Int) -> Range<Int>? {
            guard let holder = holders[peer], !holder.isSpent else { return nil }
            return claimed.firstAbsent(from: firstFree, in: holder.chunks, limit: limit)
        }
    }

    /// The blobs at work, sorted by rank.
    private var works: [Work] = []
    private var turn: UInt64 = 0

    package init() {}

    // MARK: What is at work

    /// - Parameter present: the chunks that are stored and were checked.
    package mutating func begin(_ rank: FetchRank, present: ChunkSet) {
        precondition(present.count == rank.blob.layout.chunkCount, "a set of the blob's chunks")
        guard index(of: rank.blob) == nil else { return }
        insert(Work(rank: rank, present: present, claimed: present))
    }

    package mutating func rerank(_ rank: FetchRank) {
        guard let index = index(of: rank.blob) else { return }
        var work = works.remove(at: index)
        work.rank = rank
        insert(work)
    }

    package mutating func end(_ blob: BlobName) { works.removeAll { $0.rank.blob == blob } }

    package func present(_ blob: BlobName) -> ChunkSet? { index(of: blob).map { works[$0].present } }

    private mutating func insert(_ work: Work) {
        works.insert(work, at: works.firstIndex { work.rank < $0.rank } ?? works.count)
    }

    private func index(of blob: BlobName) -> Int? { works.firstIndex { $0.rank.blob == blob } }

    // MARK: Who has it

    /// - Parameter chunks: the chunks that the peer holds; nil: all of them.
    package mutating func offered(_ blob: BlobName, by peer: DeviceID, _ chunks: ChunkSet?) {
        guard let index = index(of: blob) else { return }
        works[index].holders[peer] = Holder(chunks: chunks)
    }

    /// Removes a peer as holder: it has nothing of the blob, or nothing that can be believed.
    package mutating func withdrawn(_ blob: BlobName, by peer: DeviceID) {
        if let index = index(of: blob) { works[index].holders[peer] = nil }
    }

    package mutating func disconnected(_ peer: DeviceID) {
        for index in works.indices { works[index].holders[peer] = nil }
    }

    // MARK: What is asked

    /// Returns the next stretch to ask the peer for, and claims it, so that no other peer is asked for it; nil if the peer
    /// has nothing that is needed.
    ///
    /// - Parameters:
    ///   - limit: the most chunks, at least 1.
    ///   - others: peers that are asked first: only chunks that none of them could send are given out.
    package mutating func next(
        from peer: DeviceID, limit: Int, before others: [DeviceID] = []
    ) -> (blob: BlobName, chunks: Range<Int>)? {
        var best: (index: Int, chunks: Range<Int>)?
        for index in works.indices {
            if let best {
                if works[best.index].rank.isPersonal != works[index].rank.isPersonal { break }
                if works[best.index].lastTurn <= works[index].lastTurn { continue }
            }
            guard let chunks = works[index].stretch(from: peer, limit: limit) else {
                works[index].holders[peer]?.isSpent = true
                continue
            }
            if others.contains(where: { $0 != peer && works[index].stretch(from: $0, limit: 1) != nil }) { continue }
            best = (index, chunks)
        }
        guard let best else { return nil }
        turn += 1
        works[best.index].lastTurn = turn
        for chunk in best.chunks { works[best.index].claimed.insert(chunk) }
        if best.chunks.lowerBound == works[best.index].firstFree {
            works[best.index].firstFree = best.chunks.upperBound
        }
        return (works[best.index].rank.blob, best.chunks)
    }

    /// True if the peer has a chunk of the blob that no peer was asked for.
    package func canSend(_ peer: DeviceID, _ blob: BlobName) -> Bool {
        index(of: blob).map { works[$0].stretch(from: peer, limit: 1) != nil } ?? false
    }

    /// True if the peer has a chunk that no peer was asked for, of a blob that a user waits for.
    package func canSendPersonal(_ peer: DeviceID) -> Bool {
        works.lazy.prefix { $0.rank.isPersonal }.contains { $0.stretch(from: peer, limit: 1) != nil }
    }

    /// True if the peer holds the chunk, asked for or not.
    package func holds(_ peer: DeviceID, _ blob: BlobName, chunk: Int) -> Bool {
        guard let index = index(of: blob), let holder = works[index].holders[peer] else { return false }
        return holder.chunks?.contains(chunk) ?? true
    }

    /// Releases a chunk that no peer is asked for any more and that did not come or could not be used.
    package mutating func release(_ blob: BlobName, chunk: Int) {
        guard let index = index(of: blob), !works[index].present.contains(chunk), works[index].claimed.contains(chunk)
        else { return }
        works[index].claimed.remove(chunk)
        works[index].firstFree = min(works[index].firstFree, chunk)
        for peer in works[index].holders.keys { works[index].holders[peer]?.isSpent = false }
    }

    /// Claims a chunk that came though no peer was asked for it any more, and that goes to the disk.
    package mutating func claim(_ blob: BlobName, chunk: Int) {
        if let index = index(of: blob) { works[index].claimed.insert(chunk) }
    }

    /// Marks a chunk as stored and checked.
    ///
    /// - Returns: true if it was not stored before.
    package mutating func came(_ blob: BlobName, chunk: Int) -> Bool {
        guard let index = index(of: blob) else { return false }
        works[index].claimed.insert(chunk)
        return works[index].present.insert(chunk)
    }
}
