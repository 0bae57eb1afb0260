package import ControlAPI

/// One client's part in a text that several clients edit: what the agent has ordered, and the edits that are still on the way.
///
/// Pure: lines of the agent and edits of the user go in, edits for the other side come out. The user sees
/// `confirmed`, then `sent`, then `pending`. One batch is on the way at a time; what is typed meanwhile is the next one.
package struct TextSession {
    /// A batch that the agent has not answered.
    package struct Batch {
        /// The request as it was sent; it is repeated as it is.
        package let key: String
        package let request: TextEdits
        /// The same edit against the present `confirmed`.
        package fileprivate(set) var steps: [TextSplice]
    }

    /// The steps of a request, and their inserted text in UTF-8. JSON takes up to six bytes for one of these.
    private static let batchSteps = 1_000
    private static let batchBytes = 128 << 10

    let unit: TextUnit
    /// The text of the agent at `version`.
    package private(set) var confirmed = ""
    /// Nil until the first line.
    package private(set) var version: String?
    package private(set) var sent: Batch?
    package private(set) var pending: [TextSplice] = []

    package init(unit: TextUnit) { self.unit = unit }

    /// True if all edits of the user are part of `confirmed`.
    package var isClean: Bool { sent == nil && pending.isEmpty }

    // MARK: The user

    /// Takes an edit of the text that the user sees.
    package mutating func edit(_ step: TextSplice) { pending.record(step, in: unit) }

    /// Returns the next batch to send; nil while there is none, or another is on the way.
    package mutating func nextBatch(key: () -> String) -> Batch? {
        guard sent == nil, let version, !pending.isEmpty else { return nil }
        let steps = takeBatch()
        let batch = Batch(
            key: key(), request: TextEdits(version: version, unit: unit, edits: steps), steps: steps)
        sent = batch
        return batch
    }

    /// Takes as many of the pending steps as a request holds. A long insertion is divided.
    private mutating func takeBatch() -> [TextSplice] {
        var steps: [TextSplice] = []
        var rest = Self.batchBytes
        // A scalar takes up to four bytes.
        while rest >= 4, steps.count < Self.batchSteps, let next = pending.first {
            pending.removeFirst()
            let scalars = next.inserted.unicodeScalars
            if next.inserted.utf8.count > rest {
                let end = scalars.index(scalars.startIndex, offsetBy: rest / 4, limitedBy: scalars.endIndex)
                let first = String(scalars[..<(end ?? scalars.endIndex)])
                let second = String(scalars[(end ?? scalars.endIndex)...])
                steps.append(TextSplice(offset: next.offset, deleted: next.deleted, inserted: first))
                if !second.isEmpty {
                    let offset = next.offset + unit.count(first)
                    pending.insert(TextSplice(offset: offset, deleted: 0, inserted: second), at: 0)
                }
                break
            }
            rest -= next.inserted.utf8.count
            steps.append(next)
        }
        return steps
    }

    // MARK: The agent

    /// Takes edits that the agent ordered.
    ///
    /// - Returns: what they change in the text that the user sees; empty for the batch on the way, if it is as it was sent.
    package mutating func take(_ steps: [TextSplice], version: String, key: String?) -> [TextSplice] {
        self.version = version
        guard let batch = sent, key == batch.key else {
            confirmed.apply(steps, in: unit)
            return moveOwn(over: steps)
        }
        sent = nil
        var expected = confirmed
        confirmed.apply(steps, in: unit)
        if steps.count == batch.steps.count, zip(steps, batch.steps).allSatisfy({ $0.isSame(as: $1) }) { return [] }
        // Another agent than this library was written for may order two edits the other way.
        expected.apply(batch.steps, in: unit)
        return moveOwn(over: TextSplice.difference(from: expected, to: confirmed, in: unit))
    }

    /// Takes the whole text, behind which everything begins anew. The batch on the way must have been resolved.
    ///
    /// - Returns: what it changes in the text that the user sees.
    package mutating func take(text: String, version: String) -> [TextSplice] {
        let steps = TextSplice.difference(from: confirmed, to: text, in: unit)
        confirmed = text
        self.version = version
        return moveOwn(over: steps)
    }

    private mutating func moveOwn(over steps: [TextSplice]) -> [TextSplice] {
        var steps = steps
        if let batch = sent {
            let moved = TextTransformation.transform(batch.steps, over: steps, in: unit)
            sent?.steps = moved.later
            steps = moved.earlier
        }
        (pending, steps) = TextTransformation.transform(pending, over: steps, in: unit)
        return steps
    }

    /// Handles the news that the batch on the way was applied, from elsewhere than a line.
    package mutating func handleApplied() {
        guard let batch = sent else { return }
        confirmed.apply(batch.steps, in: unit)
        sent = nil
    }

    /// Handles the news that the batch on the way was not applied, and will not be.
    package mutating func handleForgotten() {
        guard let batch = sent else { return }
        pending = batch.steps + pending
        sent = nil
    }
}

extension TextSplice {
    /// True if both steps do the same, scalar by scalar: equal strings may have different ones.
    fileprivate func isSame(as other: TextSplice) -> Bool {
        offset == other.offset && deleted == other.deleted && inserted.utf8.elementsEqual(other.inserted.utf8)
    }
}
