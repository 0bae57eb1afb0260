public import ControlAPI
import LanyardClient
import Synchronization

/// A text that several people type into at once, as it is on this screen.
///
/// ```swift
/// let body = try await home.textDocument(\Note.body, of: note.id)
/// try body.insert("Hello", at: 0)
/// for try await steps in body.remoteEdits { view.apply(steps) }
/// ```
///
/// An edit shows at once and is sent at once; what is typed while an edit is on the way goes as one with the next. Edits of others
/// arrive as steps that apply to the text as it is here, so the view and its carets stay as they are.
///
/// The text changes by edits of others only when they are taken: by the loop over ``remoteEdits``, or by ``takeRemoteEdits()``. A
/// view that takes them and types in the same actor is never out of step. While no loop is there, they are taken as they come.
///
/// A lost agent is waited for; one may type meanwhile. When the document is dropped, what was typed is still sent.
public final class TextDocument: Sendable {
    private let core: TextDocumentCore

    init(_ core: TextDocumentCore) { self.core = core }

    deinit { core.finish() }

    /// The unit of all offsets.
    public var unit: TextUnit { core.unit }
    /// The text as it is on this screen.
    public var text: String { core.state.withLock(\.text) }
    /// The length of the text in ``unit``.
    public var count: Int { unit.count(text) }

    // MARK: Editing

    /// Inserts a text. Throws `index_out_of_range`, `inside_character`, and what ended the document.
    public func insert(_ inserted: String, at offset: Int) throws(ControlError) {
        try replace(offset..<offset, with: inserted)
    }

    /// Deletes a range. Throws as ``insert(_:at:)`` does.
    public func delete(_ range: Range<Int>) throws(ControlError) { try replace(range, with: "") }

    /// Replaces a range by another text. Throws as ``insert(_:at:)`` does.
    public func replace(_ range: Range<Int>, with inserted: String) throws(ControlError) {
        try core.edit(TextSplice(offset: range.lowerBound, deleted: range.count, inserted: inserted))
    }

    /// Makes the text this one by replacing what is between their common beginning and end.
    public func set(_ text: String) throws(ControlError) {
        try core.edit { [unit] state in TextSplice.difference(from: state.text, to: text, in: unit).first }
    }

    /// Returns when all edits that were made are durable on this machine. Throws what ended the document.
    public func saved() async throws { try await core.saved() }

    // MARK: Others' edits

    /// The edits of others, each when it is to be shown: the loop's body applies the steps in their order.
    ///
    /// It ends with the error that ended the document, such as `not_found` after the object was deleted.
    public var remoteEdits: RemoteEdits { RemoteEdits(core: core) }

    /// Takes the edits of others that came since the last call into the text, and returns them.
    public func takeRemoteEdits() -> [TextSplice] { core.takeRemoteEdits() }

    /// The sequence of the edits of others.
    public struct RemoteEdits: AsyncSequence, Sendable {
        fileprivate let core: TextDocumentCore

        /// Begins to take edits as they are asked for.
        public func makeAsyncIterator() -> Iterator { Iterator(viewer: Viewer(core)) }

        /// A loop over the edits.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let viewer: Viewer

            /// Waits for edits of others. They are taken into the text on the caller's actor, right before the return.
            public mutating func next() async throws -> [TextSplice]? { try await viewer.core.nextRemoteEdits() }
        }

        fileprivate final class Viewer: Sendable {
            let core: TextDocumentCore

            init(_ core: TextDocumentCore) {
                self.core = core
                core.state.withLock { $0.viewers += 1 }
            }

            deinit {
                core.state.withLock { state in
                    state.viewers -= 1
                    if state.viewers == 0 { _ = state.takeArrived() }
                }
            }
        }
    }

    // MARK: Carets

    /// Returns a caret: text that others insert at its place goes behind it, and what is typed here before it.
    public func caret(at offset: Int) -> TextCursor { TextCursor(core, offset, .caret) }

    /// Returns the two ends of a selection: text that anyone inserts at an end is not selected.
    public func selection(_ range: Range<Int>) -> (start: TextCursor, end: TextCursor) {
        (TextCursor(core, range.lowerBound, .start), TextCursor(core, range.upperBound, .end))
    }
}

/// A place in a text that stays where it is through all edits.
public final class TextCursor: Sendable {
    /// The side on which text goes that is inserted just here.
    enum Kind {
        case caret
        case start
        case end
    }

    private let core: TextDocumentCore
    private let id: Int

    init(_ core: TextDocumentCore, _ offset: Int, _ kind: Kind) {
        self.core = core
        id = core.state.withLock { state in
            state.lastCursor += 1
            let offset = max(0, min(offset, core.unit.count(state.text)))
            state.cursors[state.lastCursor] = (offset, kind)
            return state.lastCursor
        }
    }

    deinit { core.state.withLock { _ = $0.cursors.removeValue(forKey: id) } }

    /// The offset in the text as it is now; set it to move the cursor.
    public var offset: Int {
        get { core.state.withLock { $0.cursors[id]?.offset ?? 0 } }
        set {
            core.state.withLock { state in
                state.cursors[id]?.offset = max(0, min(newValue, core.unit.count(state.text)))
            }
        }
    }
}

extension Lanyard {
    /// Opens the text in a field that is declared `@Text`.
    ///
    /// - Parameters:
    ///   - path: the field.
    ///   - unit: the unit of all offsets: that of the view which shows the text.
    /// - Throws: `not_found`, `type_mismatch`, `agent_not_running` and others; later ones come with the document's calls.
    public func textDocument<Object: LanyardObject>(
        _ path: PartialKeyPath<Object>, of id: ObjectID, unit: TextUnit = .utf16
    ) async throws -> TextDocument {
        try await check(Object.self)
        let name = try ObjectName(collection: Object.collection, id: id.text)
        let core = TextDocumentCore(self, name, try FieldNames.path(path), unit)
        try await core.open()
        return TextDocument(core)
    }

    /// The text in a field, and then each edit of it in the order that the agent gave them: for a program that passes them on,
    /// to a page for example. After an agent was lost it goes on with the whole text.
    public func textLines(
        collection: String, id: ObjectID, field: String, unit: TextUnit
    ) -> PulledSequence<TextLine> {
        PulledSequence { give in
            let (name, path) = (try ObjectName(collection: collection, id: id.text), try FieldPath(parsing: field))
            try await connection.keepTrying { isAlive in
                try await client.followText(name, field: path, unit: unit, space: space) { line in
                    isAlive()
                    try await give(line)
                }
                throw ControlError.agentStopped
            }
        }
    }

    /// Edits a text against a version of ``textLines(collection:id:field:unit:)``.
    ///
    /// - Parameter key: 1 to 255 printable ASCII characters without spaces; the edit is applied once, however often it is sent
    ///   with its key, and the line that tells of it has the key.
    /// - Returns: a version that contains the edit.
    /// - Throws: `text_version_unknown` where the edit was not applied, and others.
    public func editText(
        collection: String, id: ObjectID, field: String, _ edits: TextEdits, key: String
    ) async throws(ControlError) -> String {
        try await client.once(key).editText(
            try ObjectName(collection: collection, id: id.text), field: try FieldPath(parsing: field), edits,
            space: space)
    }
}
