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

    /// As a segment of no change. Its head is nobody's business.
    func segment(_ segment: Segment) -> VerifiedSegment {
        VerifiedSegment(
            segment: segment, context: context.entries, changeCount: 0,
            tip: ReplicaTip(
                next: segment.end, head: ChainHead(space: .home, replica: segment.replica), stamp: lastStamp))
    }
}

extension Change {
    /// Void changes that say what their author came to know by `end`, for whoever reads the log on from there; none when
    /// that is nothing.
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
