import SyncModel

/// The changes of a residue as it lies in the log, read for their contexts and stamps; gaps between them are as they are.
struct StoredChanges {
    private(set) var context = VersionVector()
    private(set) var lastStamp = Stamp.zero

    /// Nil for bytes that are none.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader) else { return nil }
            context.join(VersionVector(view.context))
            lastStamp = max(lastStamp, view.stamp)
        }
    }

    /// Returns the changes as a segment of no change. Its head is not used.
    func segment(_ segment: Segment) -> VerifiedSegment {
        VerifiedSegment(
            segment: segment, context: context.entries, changeCount: 0,
            tip: ReplicaTip(
                next: segment.end, head: ChainHead(space: .home, replica: segment.replica), stamp: lastStamp))
    }
}

extension Change {
    /// Returns void changes that name their author's context by `end`, for readers of the log from there on; empty if there
    /// is no context.
    static func naming(_ named: VersionVector, before end: UInt64, stamp: Stamp) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = named.entries[...]
        repeat {
            let context = rest.prefix(Limits.contextEntries)
            rest = rest.dropFirst(context.count)
            let wall = min(stamp.milliseconds, Limits.wallMilliseconds)
            bytes +=
                Change(
                    start: end - 1, stamp: stamp, wallMilliseconds: wall, context: Array(context),
                    operations: [.void(span: 1)]
                ).encoded
        } while !rest.isEmpty
        return bytes
    }
}
