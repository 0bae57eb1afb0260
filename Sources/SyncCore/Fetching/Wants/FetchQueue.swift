package import SyncModel

/// The order of fetching: blobs that a user waits for, then small ones, then new ones.
package struct FetchRank: Comparable, Hashable, Sendable {
    package let isPersonal: Bool
    package let stamp: Stamp
    package let blob: BlobName

    package init(isPersonal: Bool, stamp: Stamp, blob: BlobName) {
        self.isPersonal = isPersonal
        self.stamp = stamp
        self.blob = blob
    }

    package var size: UInt64 { blob.size }

    package static func < (left: FetchRank, right: FetchRank) -> Bool {
        if left.isPersonal != right.isPersonal { return left.isPersonal }
        if left.size != right.size { return left.size < right.size }
        if left.stamp != right.stamp { return left.stamp > right.stamp }
        return left.blob < right.blob
    }
}

/// Blobs by rank, each once; a binary heap in which what was removed or moved stays until it comes up. Insertion and
/// removal of the first take logarithmic time, spread over many.
package struct FetchQueue: Sendable {
    private var heap: [FetchRank] = []
    /// The ranks that count; entries of the heap that differ do not.
    private var ranks: [BlobName: FetchRank] = [:]

    package init() {}

    /// The bytes of all queued blobs.
    package private(set) var byteCount: UInt64 = 0

    package var count: Int { ranks.count }
    package var isEmpty: Bool { ranks.isEmpty }

    package mutating func insert(_ rank: FetchRank) {
        let old = ranks.updateValue(rank, forKey: rank.blob)
        guard old != rank else { return }
        byteCount += rank.size
        byteCount -= old?.size ?? 0
        // Otherwise ranks that change again and again would make it grow without bound.
        if heap.count > 2 * ranks.count + 64 { rebuild() } else { push(rank) }
    }

    package mutating func remove(_ blob: BlobName) {
        if let rank = ranks.removeValue(forKey: blob) { byteCount -= rank.size }
    }

    /// Returns the first rank and leaves it in the queue.
    package mutating func first() -> FetchRank? {
        while let top = heap.first {
            if ranks[top.blob] == top { return top }
            removeTop()
        }
        return nil
    }

    package mutating func popFirst() -> FetchRank? {
        guard let top = first() else { return nil }
        remove(top.blob)
        removeTop()
        return top
    }

    private mutating func rebuild() { heap = ranks.values.sorted() }

    private mutating func push(_ rank: FetchRank) {
        heap.append(rank)
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func removeTop() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
