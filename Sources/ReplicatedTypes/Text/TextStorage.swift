import Synchronization

/// The storage that values of one text share until one of them is changed: its bytes, or its engine, or both.
///
/// A read moves the engine's memory of the last place read, so readers take turns; a writer is alone.
final class TextStorage: @unchecked Sendable {
    static let empty = TextStorage()

    private struct Cold {
        var contents: TextContents
        var shownCount: Int
        /// UTF-8 as it is read.
        var text: [UInt8]
    }

    private let turn = Mutex(())
    /// The bytes; valid until the engine is changed.
    private var cold: Cold?
    private var cell: TextCell?
    private var stretches = TextStretches()

    private init() {
        cold = Cold(contents: TextContents(), shownCount: 0, text: [])
    }

    init?(_ contents: TextContents) {
        guard !contents.columns.isEmpty else {
            cold = Cold(contents: TextContents(), shownCount: 0, text: [])
            return
        }
        guard let columns = try? contents.read(), columns.isWhole else { return nil }
        cold = Cold(contents: contents.bare, shownCount: columns.liveHere, text: columns.text)
    }

    /// An engine of one's own. What has none stays as it is: building one costs less than building it there and copying.
    init(copying other: TextStorage) {
        (cell, stretches) = other.turn.withLock { _ in
            (other.cell == nil ? other.built : TextCell(copying: other.settledCell), other.stretches)
        }
    }

    /// The engine, if it is built; what was known of its bytes is forgotten.
    @inline(__always)
    var changing: UnsafeMutablePointer<TextEngine>? {
        guard let cell else { return nil }
        if cold != nil { cold = nil }
        return cell.engine
    }

    /// The fingerprint of the shown text.
    var fingerprint: TextFingerprint {
        turn.withLock { _ in
            if cell == nil, let cold { return stretches.fingerprint(of: String(decoding: cold.text, as: UTF8.self)) }
            return stretches.fingerprint(of: settledCell.engine)
        }
    }

    /// Asks where the `Character`s of what is shown are.
    func askingCharacters<Answer>(
        _ body: (StretchTree<CharacterCount>, UnsafeMutablePointer<TextEngine>) -> Answer
    ) -> Answer {
        reading { body(stretches.characters(of: $0.engine), $0.engine) }
    }

    var isEmpty: Bool { cold.map { $0.contents.columns.isEmpty } ?? false }

    /// Builds the engine if there is none; one reader at a time.
    func reading<Result>(_ body: (TextCell) -> Result) -> Result { turn.withLock { _ in body(settledCell) } }

    /// The engine, built if there is none. The caller must have the turn.
    private var settledCell: TextCell {
        if let cell {
            cell.engine.pointee.settle()
            return cell
        }
        let cell = built
        self.cell = cell
        return cell
    }

    /// A new engine from the bytes.
    private var built: TextCell {
        let built = cold.flatMap { cold in
            cold.contents.columns.isEmpty ? nil : (try? cold.contents.read()).map { TextCell($0) }
        }
        let cell = built ?? TextCell()
        // What was asked of the bytes holds for the engine.
        if !stretches.isEmpty { cell.engine.pointee.splices = [] }
        return cell
    }

    /// Returns the engine, built if there is none, for a caller that alone holds this storage and will change it.
    func own() -> UnsafeMutablePointer<TextEngine> {
        let cell = turn.withLock { _ in settledCell }
        cold = nil
        return cell.engine
    }

    var shownCount: Int {
        turn.withLock { _ in
            if let cold { return cold.shownCount }
            cell?.engine.pointee.settle()
            return cell?.engine.pointee.tree.shownCount ?? 0
        }
    }

    var string: String {
        if let text = turn.withLock({ _ in cold?.text }) { return String(decoding: text, as: UTF8.self) }
        return reading { $0.engine.pointee.string }
    }

    /// The contents of the whole text, without presence.
    var contents: TextContents {
        if let contents = turn.withLock({ _ in cold?.contents }) { return contents }
        return columns(since: VersionVector())
    }

    func columns(since vector: VersionVector) -> TextContents {
        reading { cell in
            let written = TextColumnsWriter.columns(of: &cell.engine.pointee, since: vector)
            return TextContents(replicas: written.replicas, columns: written.columns)
        }
    }
}
