/// Changes of one commit while they are authored, one after the other: what the next one will be called is known before it
/// is written, so that a later change can build on what an earlier one of the same commit did.
///
/// A context names at most `Limits.contextEntries` replicas; the rest, after an author met thousands at once, is named by
/// its next changes.
package struct ChangeBatch: Sendable {
    /// The author after the changes added so far. The store keeps it once they are durable.
    package private(set) var author: ChangeAuthor
    private let wallMilliseconds: Int64
    private var greatest: Stamp
    /// The context entries left to name, one part for each change.
    private var unnamed: ArraySlice<[VersionVector.Entry]>
    private var writer: SegmentWriter

    /// - Parameters:
    ///   - held: the vector of the store, in the same transaction.
    ///   - greatestStamp: of every change the store holds.
    package init(
        _ author: ChangeAuthor, held: VersionVector, greatestStamp: Stamp, wallMilliseconds: Int64
    ) {
        (self.author, unnamed) = Self.plan(author, held)
        self.wallMilliseconds = min(max(wallMilliseconds, -Limits.wallMilliseconds), Limits.wallMilliseconds)
        greatest = max(greatestStamp, author.tip.stamp)
        writer = SegmentWriter(space: author.space, replica: author.replica, from: author.tip)
    }

    /// Returns the author to write with, and the context entries to name, one part for each change.
    ///
    /// Peers infer context from what a first change names of its own device (`FirstContexts`). A first change that cannot
    /// name all that is left names no replica of its own device, and infers nothing.
    private static func plan(
        _ author: ChangeAuthor, _ held: VersionVector
    ) -> (ChangeAuthor, ArraySlice<[VersionVector.Entry]>) {
        let limit = Limits.contextEntries
        func parts(_ entries: some Collection<VersionVector.Entry>) -> [[VersionVector.Entry]] {
            stride(from: 0, to: entries.count, by: limit).map { start in
                entries.dropFirst(start).prefix(limit).sorted { $0.replica < $1.replica }
            }
        }
        let unnamed = held.entries(beyond: author.named).filter { $0.replica != author.replica }
        guard author.tip.next == 0, unnamed.count > limit else { return (author, parts(unnamed)[...]) }
        let nobody = ChangeAuthor(
            space: author.space, replica: author.replica, tip: author.tip, named: VersionVector())
        let all = held.entries.filter { $0.replica != author.replica }
        let others = all.filter { $0.replica.device != author.replica.device }
        let own = all.filter { $0.replica.device == author.replica.device }
        return (nobody, ([Array(others.prefix(limit))] + parts(others.dropFirst(limit) + own))[...])
    }

    /// The origin of the next change's first operation; nil when stamps are used up.
    package var nextOrigin: Origin? {
        guard let stamp = Stamp.next(after: greatest, wallMilliseconds: wallMilliseconds) else { return nil }
        var context = author.named
        context.join(VersionVector(unnamed.first ?? []))
        return Origin(
            dot: Dot(replica: author.replica, counter: author.tip.next), stamp: stamp, context: context)
    }

    /// The clock every change of this batch carries, for display.
    package var displayMilliseconds: Int64 { wallMilliseconds }

    /// Adds the change that `nextOrigin` announced; `operations` are such as `ChangeAuthor.canAuthor` allows.
    package mutating func add(_ operations: [Operation], sign: ([UInt8]) -> [UInt8]) {
        guard let stamp = Stamp.next(after: greatest, wallMilliseconds: wallMilliseconds) else {
            preconditionFailure("a change is added after its origin was asked for")
        }
        let moved = unnamed.popFirst() ?? []
        writer.add(
            Change(
                start: author.tip.next, stamp: stamp, wallMilliseconds: wallMilliseconds, context: moved,
                operations: operations), sign: sign)
        author.extend(to: writer.tip, naming: moved)
        greatest = stamp
    }

    /// The segments, signed, ready to store.
    package mutating func finish(sign: ([UInt8]) -> [UInt8]) -> [VerifiedSegment] { writer.finish(sign: sign) }
}
