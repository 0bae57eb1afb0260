/// The end of a history after one of its changes.
package struct ChainEnd: Hashable, Sendable {
    /// The counter behind the change.
    package let end: UInt64
    package let head: ChainHead

    package init(end: UInt64, head: ChainHead) {
        self.end = end
        self.head = head
    }
}

extension Segment {
    /// Returns the history's end after each of its changes, up to the first that cannot be read.
    ///
    /// - Parameter head: The head before the first change.
    package func ends(from head: ChainHead) -> [ChainEnd] {
        var reader = ByteReader(bytes)
        var ends: [ChainEnd] = []
        var head = head
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            head = head.appending(view.digest(in: bytes))
            ends.append(ChainEnd(end: view.end, head: head))
        }
        return ends
    }
}
