// What an author writes for an edit by offset. Each operation is made against the state it is called on: apply it before
// planning the next by offset. Offsets out of range are a programmer's error, as in `Array`.

extension ReplicatedText {
    /// Types `text` at `offset`; nil if it is empty.
    public func operation(inserting text: String, at offset: Int, by author: ReplicaID) -> Operation? {
        precondition(offset >= 0 && offset <= count, "offset \(offset) of \(count) scalars")
        guard !text.isEmpty else { return nil }
        let placement = storage.reading { $0.engine.pointee.placement(at: offset, by: author) }
        return .insert(placement, ExactString(text))
    }

    /// Deletes the scalars at `range`; nil if it is empty.
    public func operation(deleting range: Range<Int>, by author: ReplicaID) -> Operation? {
        operation(deleting: [range], by: author)
    }

    private func operation(deleting ranges: [Range<Int>], by author: ReplicaID) -> Operation? {
        precondition(
            ranges.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= count }, "\(ranges) of \(count) scalars")
        let deleted = storage.reading { cell in
            let numbers = ranges.flatMap { cell.engine.pointee.numbers(ofShown: $0) }
            return cell.engine.pointee.dotRanges(of: numbers, by: author)
        }
        return deleted.isEmpty ? nil : .delete(deleted)
    }

    /// Returns the operations that turn the text into `string` by few insertions and deletions, to apply in this order; empty
    /// if it is equal. A text that is set to the empty string stays visible.
    public func operations(setting string: String, by author: ReplicaID) -> [Operation] {
        let hunks = TextDifference.hunks(from: Array(self.string.unicodeScalars), to: Array(string.unicodeScalars))
        var operations: [Operation] = []
        // All are planned against this state. That is sound: between two hunks a scalar stays, so what is inserted for one is
        // not next to where the other is placed.
        if let deletion = operation(deleting: hunks.map(\.range), by: author) { operations.append(deletion) }
        for hunk in hunks where !hunk.inserted.isEmpty {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: hunk.inserted)
            if let insertion = operation(inserting: String(text), at: hunk.range.lowerBound, by: author) {
                operations.append(insertion)
            }
        }
        if string.isEmpty, presence.isEmpty { operations.append(.create) }
        return operations
    }
}

extension TextEngine {
    /// The spot at an offset, as `author` names it.
    mutating func placement(at offset: Int, by author: ReplicaID) -> Placement {
        let spot = spot(at: offset)
        return placement(parent: spot.parent, isLeft: spot.isLeft, rightOrigin: spot.rightOrigin, by: author)
    }

    /// A place, as `author` names it.
    mutating func placement(parent: Int, isLeft: Bool, rightOrigin: Int, by author: ReplicaID) -> Placement {
        if isLeft { return .before(reference(parent, by: author)) }
        let previous = parent == Self.none ? nil : reference(parent, by: author)
        if rightOrigin == self.rightOrigin(of: parent) { return .after(previous, .inherited) }
        return .after(previous, rightOrigin == Self.none ? .end : .node(reference(rightOrigin, by: author)))
    }

    private mutating func reference(_ number: Int, by author: ReplicaID) -> DotReference {
        DotReference(dots.fullDot(of: number), by: author)
    }

    /// Returns these scalars as a deletion of `author` names them, by as few ranges as their order allows.
    mutating func dotRanges(of numbers: [Range<Int>], by author: ReplicaID) -> [DotRange] {
        dotSpans(of: numbers).map { DotRange(first: DotReference($0.first, by: author), count: $0.count) }
    }

    /// The dots of these scalars: those that follow each other in both orders as one.
    mutating func dotSpans(of numbers: [Range<Int>]) -> [(first: Dot, count: UInt64)] {
        var found: [(first: Dot, count: UInt64)] = []
        for numbers in numbers {
            var number = numbers.lowerBound
            while number < numbers.upperBound {
                let stretch = dots.stretch(of: number)
                let part = UInt64(min(numbers.upperBound, stretch.number + stretch.count) - number)
                let first = Dot(
                    replica: dots.replicas[stretch.replica], counter: stretch.counter + UInt64(number - stretch.number))
                if let last = found.last, last.first.replica == first.replica,
                    last.first.counter + last.count == first.counter
                {
                    found[found.count - 1].count += part
                } else {
                    found.append((first, part))
                }
                number += Int(part)
            }
        }
        return found
    }
}
