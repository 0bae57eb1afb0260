import Synchronization

/// What values of one text share until one of them is changed: its bytes, or its engine, or both.
///
/// Reading moves what the engine remembers of where it was asked last, so readers take turns; whoever changes it is alone.
final class TextStorage: @unchecked Sendable {
    static let empty = TextStorage()

    private struct Cold {
        var contents: TextContents
        var shownCount: Int
        /// UTF-8 as it is read.
        var text: [UInt8]
    }

    private let turn = Mutex(())
    /// Valid as long as nobody changed the engine.
    private var cold: Cold?
    private var cell: TextCell?
    /// Of what is shown, as long as nobody changed the engine, or as `keep` left it.
    private var fingerprint: TextFingerprint?

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

    /// An engine of one's own.
    init(copying other: TextStorage) {
        (cell, fingerprint) = other.reading { (TextCell(copying: $0), other.fingerprint) }
    }

    /// The engine, if it is built; what was known of its bytes is forgotten.
    @inline(__always)
    var changing: UnsafeMutablePointer<TextEngine>? {
        guard let cell else { return nil }
        if cold != nil { cold = nil }
        return cell.engine
    }

    /// Of what is shown; looked for once.
    var fingerprintSum: TextFingerprint.Sum {
        if let known = turn.withLock({ _ in fingerprint }) { return known.sum }
        let made = TextFingerprint(string)
        turn.withLock { _ in fingerprint = made }
        return made.sum
    }

    /// Whoever changes the engine takes it, and may give back what follows the change.
    @inline(__always)
    func takeFingerprint() -> TextFingerprint? {
        guard let known = fingerprint else { return nil }
        fingerprint = nil
        return known
    }

    func keep(_ fingerprint: TextFingerprint) { self.fingerprint = fingerprint }

    var isEmpty: Bool { cold.map { $0.contents.columns.isEmpty } ?? false }

    /// Builds the engine if there is none; one reader at a time.
    func reading<Result>(_ body: (TextCell) -> Result) -> Result {
        turn.withLock { _ in
            if let cell {
                cell.engine.pointee.settle()
                return body(cell)
            }
            let built = cold.flatMap { cold in
                cold.contents.columns.isEmpty ? nil : (try? cold.contents.read()).map { TextCell($0) }
            }
            let cell = built ?? TextCell()
            self.cell = cell
            return body(cell)
        }
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

    /// Of the whole, without presence.
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
