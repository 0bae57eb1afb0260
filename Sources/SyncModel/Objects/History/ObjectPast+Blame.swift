/// A stretch of a text, an element or a value that a reader sees, and the change that put it there.
package struct BlameSpan: Hashable, Sendable {
    package let path: [ExactString]
    package internal(set) var content: AuthoredPart.Content
    /// The version to which the change brought the object. Where the log does not have the change any more, the operation.
    package let version: Dot
    /// The time of the change by its author's clock; nil if the log no longer has the change.
    package let wallMilliseconds: Int64?
}

extension ObjectPast {
    /// Returns the authors of what a reader sees of a field, in the order in which it is shown. A run written by one change
    /// is one span.
    ///
    /// It is a function of the state and of the changes' stamps and clocks: the same on all nodes that show the same.
    ///
    /// - Parameters:
    ///   - state: The object, at any time of this past.
    ///   - path: The field, or what is below it.
    /// - Returns: Nil if nothing is shown there.
    package func blame(_ state: ObjectState, _ path: [ExactString], _ schema: CollectionSchema?) -> [BlameSpan]? {
        guard case .live(let births) = state.judgement, state.shownValue(at: path, schema) != nil else { return nil }
        let index = index
        var authorship = Authorship { one, other in
            let stamps = [one, other].map { index.change(of: $0).change?.stamp ?? .zero }
            return (stamps[0], one) < (stamps[1], other)
        }
        authorship.add(
            births.compactMap { state.fields(of: $0)?[path[0]] }, preferring: schema?[path[0]]?.kind.type,
            at: [path[0]])
        var spans: [BlameSpan] = []
        for part in authorship.parts where part.path.starts(with: path) {
            for span in index.spans(of: part) { spans.appendJoining(span) }
        }
        return spans
    }
}

extension ObjectPast.Index {
    /// The part, change by change: typing goes on from one change to the next without a gap between the dots.
    fileprivate func spans(of part: AuthoredPart) -> [BlameSpan] {
        guard case .text(let start, let text) = part.content else {
            return [span(part.path, part.content, part.dot)]
        }
        var spans: [BlameSpan] = []
        var rest = text.unicodeScalars[...]
        var (offset, counter) = (start, part.dot.counter)
        while !rest.isEmpty {
            let dot = Dot(replica: part.dot.replica, counter: counter)
            let limit = Int(clamping: change(of: dot).count)
            let piece = rest.prefix(limit)
            let count = piece.count
            spans.append(span(part.path, .text(offset: offset, String(scalars: piece)), dot))
            rest = rest.dropFirst(count)
            offset += count
            counter += UInt64(count)
        }
        return spans
    }

    private func span(_ path: [ExactString], _ content: AuthoredPart.Content, _ dot: Dot) -> BlameSpan {
        let change = change(of: dot).change
        return BlameSpan(
            path: path, content: content, version: change?.version ?? dot, wallMilliseconds: change?.wallMilliseconds)
    }
}

extension [BlameSpan] {
    /// Puts a span behind the last, or makes it a part of that.
    fileprivate mutating func appendJoining(_ span: BlameSpan) {
        guard case .text(_, let added) = span.content, let last = last, last.version == span.version,
            last.path == span.path, case .text(let offset, let text) = last.content
        else { return append(span) }
        self[count - 1].content = .text(offset: offset, text + added)
    }
}
