import Glibc

/// One edit: at `position`, `deleted` scalars go and `inserted` comes.
struct Patch {
    let position: Int
    let deleted: Int
    let inserted: String
    /// What is inserted if that is one scalar, as almost always: a keystroke.
    let keystroke: Unicode.Scalar?

    init(position: Int, deleted: Int, inserted: String) {
        self.position = position
        self.deleted = deleted
        self.inserted = inserted
        let scalars = inserted.unicodeScalars
        keystroke = scalars.count == 1 ? scalars.first : nil
    }
}

/// A patch in sixteen bytes and without a reference to count: walking a quarter of a million of them takes no time beside
/// what is measured.
struct Stroke: BitwiseCopyable {
    let position: Int32
    let deleted: Int32
    /// What is inserted if that is one scalar; 0: another text.
    let keystroke: UInt32
    /// Which of the trace's texts is inserted; −1: none.
    let text: Int32
}

/// What one person typed, and the text it ends in.
struct SoloTrace {
    let patches: [Patch]
    let end: String
    let strokes: [Stroke]
    /// What strokes insert that is longer than a scalar.
    let texts: [String]

    init(patches: [Patch], end: String) {
        self.patches = patches
        self.end = end
        var texts: [String] = []
        strokes = patches.map { patch in
            var text = -1
            if patch.keystroke == nil, !patch.inserted.isEmpty {
                text = texts.count
                texts.append(patch.inserted)
            }
            return Stroke(
                position: Int32(patch.position), deleted: Int32(patch.deleted), keystroke: patch.keystroke?.value ?? 0,
                text: Int32(text))
        }
        self.texts = texts
    }

    /// The last edits are shipped and typed live; the others come before.
    var head: ArraySlice<Patch> { patches.dropLast(1_000) }
    var tail: ArraySlice<Patch> { patches.suffix(1_000) }
}

/// What several people typed into one document at the same time.
struct SharedTrace {
    struct Transaction {
        let agent: Int
        /// The earlier transactions it was typed on, with all that these were typed on.
        let parents: [Int]
        let patches: [Patch]
    }

    let agents: Int
    let transactions: [Transaction]
    let end: String
}

/// Something is not as it should be: then there is no figure.
struct RaceFault: Error, CustomStringConvertible {
    let description: String
}

/// Reads the flat form of a trace, which `Tests/Benchmarks/text/traces.py` describes and writes.
struct TraceReader {
    private let bytes: [UInt8]
    private var position = 0

    init(path: String) throws { bytes = try readFile(path) }

    static func solo(_ path: String) throws -> SoloTrace {
        var reader = try TraceReader(path: path)
        let patches = try reader.patches()
        return SoloTrace(patches: patches, end: try reader.text())
    }

    static func shared(_ path: String) throws -> SharedTrace {
        var reader = try TraceReader(path: path)
        let count = try reader.number()
        let agents = try reader.number()
        var transactions: [SharedTrace.Transaction] = []
        for _ in 0..<count {
            let agent = try reader.number()
            var parents: [Int] = []
            for _ in 0..<(try reader.number()) { parents.append(try reader.number()) }
            transactions.append(.init(agent: agent, parents: parents, patches: try reader.patches()))
        }
        return SharedTrace(agents: agents, transactions: transactions, end: try reader.text())
    }

    private mutating func patches() throws -> [Patch] {
        var patches: [Patch] = []
        for _ in 0..<(try number()) {
            let position = try number()
            let deleted = try number()
            patches.append(Patch(position: position, deleted: deleted, inserted: try text()))
        }
        return patches
    }

    private mutating func number() throws -> Int {
        let digits = try take(4)
        return digits.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func text() throws -> String { String(decoding: try take(try number()), as: UTF8.self) }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw RaceFault(description: "the trace is cut off") }
        defer { position += count }
        return bytes[position..<position + count]
    }
}

func readFile(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw RaceFault(description: "no file \(path)") }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let count = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = fread(buffer.baseAddress, 1, count, file)
    }
}

func writeFile(_ path: String, _ bytes: [UInt8]) throws {
    guard let file = fopen(path, "w") else { throw RaceFault(description: "cannot write \(path)") }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
        throw RaceFault(description: "\(path) is not whole")
    }
}
