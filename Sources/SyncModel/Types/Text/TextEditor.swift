/// A text that somebody types into here: every edit shows at once, and what was typed since the last commit is one change,
/// with a run of letters as one operation.
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
    /// The counter of the next operation.
    private var next: UInt64
    /// Of our replica in the engine.
    private var index = -1
    /// The engine of the text, as long as nobody else holds the text.
    private var engine: EnginePointer?
    /// What is not committed, but for the last edit.
    private var earlier: [PendingEdit] = []
    private var last = PendingEdit(number: 0, count: 0)

    /// A number and how many; negative when those were deleted, 0: none.
    private struct PendingEdit: BitwiseCopyable {
        var number: Int32
        var count: Int32
    }

    /// Used only after asking whether the text is ours alone.
    private struct EnginePointer: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<TextEngine>
    }

    /// A text that nobody has written yet.
    public init(replica: ReplicaID) { self.init(Document(replica: replica)) }

    /// A text to go on with, as the document's replica.
    public init(_ document: Document<ReplicatedText>) {
        current = document
        next = document.vector.next(of: document.replica)
    }

    /// With what was typed.
    public var text: ReplicatedText { current.value }

    /// Whether something was typed since the last commit.
    public var hasPending: Bool { last.count != 0 }

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

    /// Goes on where something was typed last; false, and nothing happens, if that is not at `offset`.
    @inline(__always)
    private mutating func typeOn(_ byte: UInt8, at offset: Int) -> Bool {
        guard let engine, isKnownUniquelyReferenced(&current.value.storage),
            engine.pointer.pointee.typeOn(byte, at: offset)
        else { return false }
        next &+= 1
        if last.count > 0 {
            last.count &+= 1
        } else {
            note(PendingEdit(number: Int32(truncatingIfNeeded: engine.pointer.pointee.nextNumber - 1), count: 1))
        }
        return true
    }

    @inline(never)
    private mutating func insertElsewhere(_ scalars: some Scalars, at offset: Int) {
        let engine = own()
        precondition(
            offset >= 0 && offset <= engine.pointee.tree.shownCount,
            "offset \(offset) of \(engine.pointee.tree.shownCount) scalars")
        let number = engine.pointee.count
        engine.pointee.insert(scalars, at: offset, counter: next, by: index)
        let added = engine.pointee.count - number
        next += UInt64(added)
        if last.count > 0, Int(last.number) + Int(last.count) == number, !engine.pointee.isHead[number] {
            last.count += Int32(truncatingIfNeeded: added)
        } else {
            note(PendingEdit(number: Int32(truncatingIfNeeded: number), count: Int32(truncatingIfNeeded: added)))
        }
    }

    /// Deletes the scalars at `range`.
    @inline(__always)
    public mutating func remove(_ range: Range<Int>) {
        let engine = own()
        precondition(
            range.lowerBound >= 0 && range.upperBound <= engine.pointee.tree.shownCount,
            "\(range) of \(engine.pointee.tree.shownCount) scalars")
        if range.count == 1 {
            noteRemoved(engine.pointee.removeOne(at: range.lowerBound), 1)
        } else {
            engine.pointee.remove(range) { noteRemoved($0, $1) }
        }
    }

    @inline(__always)
    private mutating func noteRemoved(_ number: Int, _ count: Int) {
        next += UInt64(truncatingIfNeeded: count)
        let number = Int32(truncatingIfNeeded: number)
        let count = Int32(truncatingIfNeeded: count)
        if last.count < 0, last.number == number + count {
            last = PendingEdit(number: number, count: last.count - count)
        } else if last.count < 0, last.number - last.count == number {
            last.count -= count
        } else {
            note(PendingEdit(number: number, count: -count))
        }
    }

    private mutating func note(_ edit: PendingEdit) {
        if last.count != 0 { earlier.append(last) }
        last = edit
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
        let pointer = current.value.own()
        // The run that is open may be somebody else's, or ours from before other counters.
        pointer.pointee.endRun()
        engine = EnginePointer(pointer: pointer)
        index = pointer.pointee.dots.makeIndex(of: current.replica)
        if !hasPending { next = max(next, pointer.pointee.dots.end(of: index)) }
        return pointer
    }

    // MARK: Committing

    /// What was typed since the last commit, as one change; nil: nothing.
    public mutating func commit(wallMilliseconds: Int64) -> DocumentChange<ReplicatedText.Operation>? {
        guard hasPending else { return nil }
        let start = Dot(replica: current.replica, counter: current.vector.next(of: current.replica))
        let stamp =
            Stamp.next(after: current.greatestStamp, wallMilliseconds: wallMilliseconds) ?? Stamp(rawValue: .max)
        let change = DocumentChange(
            start: start, count: next - start.counter, stamp: stamp, context: current.vector, operations: operations())
        earlier.removeAll(keepingCapacity: true)
        last = PendingEdit(number: 0, count: 0)
        current.vector.advance(current.replica, to: next)
        current.greatestStamp = stamp
        return change
    }

    private mutating func operations() -> [ReplicatedText.Operation] {
        let engine = own()
        let author = current.replica
        var operations: [ReplicatedText.Operation] = []
        var deleted: [Range<Int>] = []
        func flush() {
            guard !deleted.isEmpty else { return }
            operations.append(.delete(engine.pointee.dotRanges(of: deleted, by: author)))
            deleted = []
        }
        for edit in earlier + [last] {
            let number = Int(edit.number)
            if edit.count < 0 {
                deleted.append(number..<number - Int(edit.count))
                continue
            }
            flush()
            let place = engine.pointee.position(of: number)
            let placement = engine.pointee.placement(
                parent: place.parent, isLeft: place.isLeft, rightOrigin: place.rightOrigin, by: author)
            var utf8: [UInt8] = []
            engine.pointee.arena.append(number, Int(edit.count), to: &utf8)
            operations.append(.insert(placement, ExactString(String(decoding: utf8, as: UTF8.self))))
        }
        flush()
        return operations
    }

    // MARK: Others' edits

    /// Takes in a change that was written elsewhere, while nothing is pending; see `Document.apply`.
    public mutating func apply(_ change: DocumentChange<ReplicatedText.Operation>) throws(DocumentError) {
        precondition(!hasPending, "commit what was typed before others' edits come in")
        engine = nil
        try current.apply(change)
        next = current.vector.next(of: current.replica)
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

    /// What a replica lacks that holds `vector`; see `Document.delta`.
    public func delta(since vector: VersionVector) -> DocumentDelta<TextContents> { document.delta(since: vector) }

    /// Takes in a delta, while nothing is pending; see `Document.join`.
    public mutating func join(_ delta: DocumentDelta<TextContents>) throws(DocumentError) {
        precondition(!hasPending, "commit what was typed before others' edits come in")
        // The whole text may be another one afterwards.
        engine = nil
        try current.join(delta)
        next = current.vector.next(of: current.replica)
    }
}
