/// The summaries of a text, kept stretch by stretch. Before the first query it holds none; from then on it follows the edits
/// that the engine records (`TextEngine.splices`). Where the engine has no notes, all summaries are discarded and read anew.
struct TextStretches: Sendable {
    private var fingerprints: StretchTree<TextFingerprint>?
    private var characters: StretchTree<CharacterCount>?

    /// Creates it without any summary.
    init() {}

    var isEmpty: Bool { fingerprints == nil && characters == nil }

    /// The fingerprint of what is shown.
    mutating func fingerprint(of engine: UnsafeMutablePointer<TextEngine>) -> TextFingerprint {
        follow(engine)
        return Self.settle(&fingerprints, engine).summary
    }

    /// The same of a text that has no engine yet; `string` is what it shows.
    mutating func fingerprint(of string: @autoclosure () -> String) -> TextFingerprint {
        if let fingerprints { return fingerprints.summary }
        let tree = StretchTree<TextFingerprint>(string())
        fingerprints = tree
        return tree.summary
    }

    /// Returns the number of `Character`s of each stretch.
    mutating func characters(of engine: UnsafeMutablePointer<TextEngine>) -> StretchTree<CharacterCount> {
        follow(engine)
        return Self.settle(&characters, engine)
    }

    private mutating func follow(_ engine: UnsafeMutablePointer<TextEngine>) {
        if let splices = engine.pointee.splices {
            if splices.isEmpty { return }
            for splice in splices {
                let range = splice.offset..<splice.offset + splice.deletedCount
                fingerprints?.replace(range, with: splice.insertedCount)
                characters?.replace(range, with: splice.insertedCount)
            }
        } else {
            self = TextStretches()
        }
        engine.pointee.splices = []
    }

    private static func settle<Summary>(
        _ tree: inout StretchTree<Summary>?, _ engine: UnsafeMutablePointer<TextEngine>
    ) -> StretchTree<Summary> {
        var settled = tree ?? StretchTree(count: engine.pointee.tree.shownCount)
        settled.settle { engine.pointee.string(ofShown: $0) }
        tree = settled
        return settled
    }
}
