/// A text that a user types into here: every edit shows at once. What was typed since the last commit is one change of one
/// operation.
///
///     var editor = TextEditor(replica: mine)
///     editor.insert("Hello", at: 0)
///     editor.remove(4..<5)
///     let change = editor.commit(wallMilliseconds: now)
///     // … `change` travels …
///     try other.apply(change)
///
/// Offsets count Unicode scalars; one out of range is a programmer's error, as in `Array`. A replica must be written from one
/// place only; see `Document`.
public struct TextEditor: Sendable {
    private var current: Document<ReplicatedText>
    /// The index of this editor's replica in the engine.
    private var index = -1
    /// The engine of the text, as long as no other value shares the text.
    private var engine: EnginePointer?
    /// The first number of the engine that is not committed; what is typed until then has the numbers behind it.
    private var firstNumber = 0
    /// The counter of that number.
    private var firstCounter: UInt64
    /// Numbers deleted since the last commit, but for the last stretch. Deleting takes no counters until it is committed.
    private var earlier: [DeletedStretch] = []
    private var last = DeletedStretch(number: 0, count: 0)

    /// Count 0: none.
    private struct DeletedStretch: BitwiseCopyable {
        var number: Int32
        var count: Int32
    }

    /// Used only after asking whether the text is ours alone.
    private struct EnginePointer: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<TextEngine>
    }

    /// Creates an editor of a text that no replica has written yet.
    public init(replica: ReplicaID) { self.init(Document(replica: replica)) }

    /// A text to go on with, as the document's replica.
    public init(_ document: Document<ReplicatedText>) {
        current = document
        firstCounter = document.vector.next(of: document.replica)
    }

    /// The text with the uncommitted edits.
    public var text: ReplicatedText { current.value }

    /// True if the text was edited since the last commit.
    public var hasPending: Bool { last.count > 0 || typedCount > 0 }

    /// Scalars typed since the last commit.
    private var typedCount: Int { engine.map { $0.pointer.pointee.nextNumber - firstNumber } ?? 0 }

    /// Text and vector; only while nothing is pending.
    public var document: Document<ReplicatedText> {
        precondition(!hasPending, "a document has no edits that are not committed")
        return current
    }

    // MARK: Typing

    /// Types `string` at `offset`.
    @inline(__always)
    public mutating func insert(_ string: String, at offset: Int) {
        let utf8 = string.utf8
        if utf8.count == 1, typeOn(utf8[utf8.startIndex], at: offset) { return }
        if utf8.count > 0 { insertElsewhere(string, at: offset) }
    }

    /// Types one scalar at `offset`: a keystroke.
    @inline(__always)
    public mutating func insert(_ scalar: Unicode.Scalar, at offset: Int) {
        if scalar.isASCII, typeOn(UInt8(truncatingIfNeeded: scalar.value), at: offset) { return }
        insertElsewhere(scalar, at: offset)
    }

    /// Types a letter behind the last one typed. Returns false, and changes nothing, if that is not at `offset`.
    @inline(__always)
    private mutating func typeOn(_ byte: UInt8, at offset: Int) -> Bool {
        guard let engine, isKnownUniquelyReferenced(&current.value.storage) else { return false }
        return engine.pointer.pointee.typeOn(byte, at: offset)
    }

    @inline(never)
    private mutating func insertElsewhere(_ scalars: some Scalars, at offset: Int) {
        let engine = own()
        precondition(
            offset >= 0 && offset <= engine.pointee.tree.shownCount,
            "offset \(offset) of \(engine.pointee.tree.shownCount) scalars")
        let counter = firstCounter + UInt64(engine.pointee.count - firstNumber)
        engine.pointee.insert(scalars, at: offset, counter: counter, by: index)
    }

    /// Deletes the scalars at `range`.
    @inline(__always)
    public mutating func remove(_ range: Range<Int>) {
        let engine = own()
        precondition(
            range.lowerBound >= 0 && range.upperBound <= engine.pointee.tree.shownCount,
            "\(range) of \(engine.pointee.tree.shownCount) scalars")
        if range.count == 1 {
            recordRemoved(engine.pointee.removeOne(at: range.lowerBound), 1)
        } else {
            engine.pointee.remove(range) { recordRemoved($0, $1) }
        }
    }

    @inline(__always)
    private mutating func recordRemoved(_ number: Int, _ count: Int) {
        let number = Int32(truncatingIfNeeded: number)
        let count = Int32(truncatingIfNeeded: count)
        if last.number == number &+ count {
            last = DeletedStretch(number: number, count: last.count &+ count)
        } else if last.number &+ last.count == number {
            last.count &+= count
        } else {
            if last.count > 0 { earlier.append(last) }
            last = DeletedStretch(number: number, count: count)
        }
    }

    /// The engine, ours alone.
    @inline(__always)
    private mutating func own() -> UnsafeMutablePointer<TextEngine> {
        guard let engine, isKnownUniquelyReferenced(&current.value.storage) else { return ownAnew() }
        engine.pointer.pointee.settle()
        return engine.pointer
    }

    @inline(never)
    private mutating func ownAnew() -> UnsafeMutablePointer<TextEngine> {
        let isFirst = !hasPending
        let pointer = current.value.own()
        // The open run may be another replica's, or this one's from before other counters.
        pointer.pointee.endRun()
        engine = EnginePointer(pointer: pointer)
        index = pointer.pointee.dots.makeIndex(of: current.replica)
        if isFirst {
            firstNumber = pointer.pointee.count
            firstCounter = max(firstCounter, pointer.pointee.dots.end(of: index))
        }
        return pointer
    }

    // MARK: Committing

    /// Returns what was typed since the last commit, as one change; nil if nothing was.
    public mutating func commit(wallMilliseconds: Int64) -> DocumentChange<ReplicatedText.Operation>? {
        guard hasPending else { return nil }
        let start = Dot(replica: current.replica, counter: current.vector.next(of: current.replica))
        let stamp =
            Stamp.next(after: current.greatestStamp, wallMilliseconds: wallMilliseconds) ?? Stamp(rawValue: .max)
        let engine = own()
        let typed = engine.pointee.count - firstNumber
        let operations = operations(engine)
        let span = operations.reduce(0) { $0 + ReplicatedText.span(of: $1) }
        // Deletions have counters of their own unless they are part of a revision.
        if span > UInt64(typed) { engine.pointee.endRun() }
        firstNumber += typed
        firstCounter += span
        if !earlier.isEmpty { earlier.removeAll(keepingCapacity: true) }
        last = DeletedStretch(number: 0, count: 0)
        let change = DocumentChange(
            start: start, count: firstCounter - start.counter, stamp: stamp, context: current.vector,
            operations: operations)
        current.vector.advance(current.replica, to: firstCounter)
        current.greatestStamp = stamp
        return change
    }

    /// Returns the typed scalars before the deleted ones: their counters are the first.
    private func operations(_ engine: UnsafeMutablePointer<TextEngine>) -> [ReplicatedText.Operation] {
        if let keystroke = keystroke(engine) { return [keystroke] }
        let author = current.replica
        let (gone, old) = deleted
        let deletion = engine.pointee.sortedDotRanges(of: old, by: author)
        let runs = engine.pointee.runs(from: firstNumber, by: author)
        if runs.isEmpty { return [.delete(deletion)] }
        let text = engine.pointee.string(of: engine.pointee.shown(from: firstNumber, without: gone))
        if let revision = TextRevision(
            runs: runs, gone: gone.map { $0.lowerBound - firstNumber..<$0.upperBound - firstNumber },
            text: ExactString(text), deleted: deletion)
        {
            return [.revise(revision)]
        }
        var number = firstNumber
        let insertions = runs.map { run in
            defer { number += run.count }
            return ReplicatedText.Operation.insert(
                run.placement, ExactString(engine.pointee.arena.string(number, run.count)))
        }
        return insertions + [.delete(engine.pointee.sortedDotRanges(of: old + gone, by: author))]
    }

    /// Returns one insertion of a run, or one deletion of a stretch; nil if the edits are more. This is what ships as a user
    /// types, so it takes the short way.
    private func keystroke(_ engine: UnsafeMutablePointer<TextEngine>) -> ReplicatedText.Operation? {
        let author = current.replica
        if last.count == 0 {
            guard let run = engine.pointee.run(from: firstNumber, by: author),
                firstNumber + run.count == engine.pointee.count
            else { return nil }
            return .insert(run.placement, ExactString(engine.pointee.arena.string(firstNumber, run.count)))
        }
        guard firstNumber == engine.pointee.count, earlier.isEmpty else { return nil }
        let stretch = engine.pointee.dots.stretch(of: Int(last.number))
        guard Int(last.number + last.count) <= stretch.number + stretch.count else { return nil }
        let first = engine.pointee.dots.fullDot(of: Int(last.number))
        return .delete([DotRange(first: DotReference(first, by: author), count: UInt64(last.count))])
    }

    /// The deleted stretches of what was typed since the last commit, and of what was there before: by number, not touching.
    private var deleted: (gone: [Range<Int>], old: [Range<Int>]) {
        guard last.count > 0 else { return ([], []) }
        var (gone, old): ([Range<Int>], [Range<Int>]) = ([], [])
        for stretch in (earlier + [last]).sorted(by: { $0.number < $1.number }) {
            let numbers = Int(stretch.number)..<Int(stretch.number + stretch.count)
            old.appendMerging(numbers.clamped(to: 0..<max(firstNumber, 0)))
            gone.appendMerging(numbers.clamped(to: firstNumber..<max(firstNumber, numbers.upperBound)))
        }
        return (gone, old)
    }

    // MARK: Others' edits

    /// Takes in a change that was written elsewhere, while nothing is pending; see `Document.apply`.
    public mutating func apply(_ change: DocumentChange<ReplicatedText.Operation>) throws(DocumentError) {
        precondition(!hasPending, "commit what was typed before others' edits come in")
        engine = nil
        try current.apply(change)
        firstCounter = current.vector.next(of: current.replica)
    }

    /// The same, and what it does to what is shown: to be done in this order by whatever shows the text.
    public mutating func applyShowing(
        _ change: DocumentChange<ReplicatedText.Operation>
    ) throws(DocumentError) -> [TextEdit] {
        own().pointee.edits = []
        do throws(DocumentError) { try apply(change) } catch {
            own().pointee.edits = nil
            throw error
        }
        defer { own().pointee.edits = nil }
        return own().pointee.edits ?? []
    }

    /// Returns what a replica that holds `vector` lacks; see `Document.delta`.
    public func delta(since vector: VersionVector) -> DocumentDelta<TextContents> { document.delta(since: vector) }

    /// Takes in a delta, while nothing is pending; see `Document.join`.
    public mutating func join(_ delta: DocumentDelta<TextContents>) throws(DocumentError) {
        precondition(!hasPending, "commit what was typed before others' edits come in")
        // The whole text may be another one afterwards.
        engine = nil
        try current.join(delta)
        firstCounter = current.vector.next(of: current.replica)
    }
}
