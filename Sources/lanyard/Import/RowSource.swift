import ControlAPI

/// The objects of a file or of standard input, read piece by piece.
struct RowSource: Sendable {
    enum Input: Sendable {
        case file(FileInput)
        case standardInput
    }

    let input: Input
    let reader: any RowReader
    /// False where a later object with an id may follow an earlier one.
    let refusesTwins: Bool
    let display: ProgressDisplay

    func makeCursor() -> Cursor { Cursor(self) }

    /// A walk through the objects. Of those behind it, it keeps the hashes of the ids.
    struct Cursor {
        private enum Pieces {
            case file(FileInput.Iterator)
            case standardInput(StandardInput.Iterator)
        }

        private let display: ProgressDisplay
        private var reader: any RowReader
        private var pieces: Pieces
        private var twins: Twins?
        private var fault: ControlError?
        private var hasEnded = false

        fileprivate init(_ source: RowSource) {
            display = source.display
            reader = source.reader
            pieces =
                switch source.input {
                case .file(let file): .file(file.makeAsyncIterator())
                case .standardInput: .standardInput(StandardInput.Iterator())
                }
            twins = source.refusesTwins ? Twins() : nil
        }

        /// Returns the next objects, maybe none; nil at the end. A fault is thrown after the objects before it were returned.
        mutating func next() async throws(ControlError) -> [NumberedObject]? {
            if let fault { throw fault }
            guard !hasEnded else { return nil }
            var objects: [NumberedObject] = []
            do throws(ControlError) {
                if let piece = try await nextPiece() {
                    display.add(piece.count)
                    try reader.append(piece, to: &objects)
                } else {
                    hasEnded = true
                    try reader.finish(to: &objects)
                }
            } catch {
                fault = error
            }
            return withoutTwins(objects)
        }

        private mutating func nextPiece() async throws(ControlError) -> [UInt8]? {
            switch pieces {
            case .file(var file):
                let piece = try await file.next()
                pieces = .file(file)
                return piece
            case .standardInput(var input):
                let piece = try await input.next()
                pieces = .standardInput(input)
                return piece
            }
        }

        private mutating func withoutTwins(_ objects: [NumberedObject]) -> [NumberedObject] {
            for (place, object) in objects.enumerated() {
                guard let id = object.put.id, let first = twins?.line(adding: id, object.line) else { continue }
                fault = ControlError(
                    .alreadyExists, "It has the id \"\(shown(id))\", as line \(first) has.",
                    hint: "Give another column with --id, or let the later one win: --last-wins"
                ).inLine(object.line)
                return Array(objects[..<place])
            }
            return objects
        }
    }
}

/// The lines of all ids so far, some 30 bytes each: of an id only a hash of 64 bits is kept. Among ten million ids, the chance that
/// two different ones are taken for one is below one to 300,000.
private struct Twins {
    private var lines: [Int: Int] = [:]

    /// Returns the line that had the id before.
    mutating func line(adding id: String, _ line: Int) -> Int? {
        var hasher = Hasher()
        for byte in id.utf8 { hasher.combine(byte) }
        let hash = hasher.finalize()
        if let first = lines[hash] { return first }
        lines[hash] = line
        return nil
    }
}
