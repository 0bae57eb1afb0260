import ControlAPI
import Crypto

/// Writes an archive file by file, and behind them the checksum of each.
final class ExportArchive {
    private let put: ([UInt8]) throws(ControlError) -> Void
    private let spoolDirectory: String
    private(set) var byteCount: UInt64 = 0
    private var checksums: [UInt8] = []

    /// - Parameter spoolDirectory: where there is room for the lines of the archive once more.
    init(spoolDirectory: String, _ put: @escaping ([UInt8]) throws(ControlError) -> Void) {
        self.spoolDirectory = spoolDirectory
        self.put = put
    }

    func add(_ name: String, _ bytes: [UInt8]) throws(ControlError) {
        var file = try begin(name, size: UInt64(bytes.count))
        try file.write(bytes)
        try file.end()
    }

    /// Adds a file of which `body` gives the lines. They are kept aside until their length is known, so that nothing is held in
    /// memory.
    ///
    /// - Returns: how many there are.
    func addLines(_ name: String, _ body: (LineSpool) async throws -> Void) async throws -> Int {
        let spool = try LineSpool(directory: spoolDirectory)
        try await body(spool)
        var file = try begin(name, size: try spool.end())
        try spool.read { bytes throws(ControlError) in try file.write(bytes) }
        try file.end()
        return spool.lineCount
    }

    func finish() throws(ControlError) {
        let entry = TarEntry(ExportFormat.checksums, size: UInt64(checksums.count))
        try write(entry.header + checksums + entry.padding + TarEntry.end)
    }

    // MARK: One file

    /// A file on its way into the archive.
    struct File {
        private let archive: ExportArchive
        private let entry: TarEntry
        private var hash = SHA256()
        private var rest: UInt64

        fileprivate init(_ name: String, size: UInt64, in archive: ExportArchive) throws(ControlError) {
            self.archive = archive
            entry = TarEntry(name, size: size)
            rest = size
            try archive.write(entry.header)
        }

        mutating func write(_ bytes: [UInt8]) throws(ControlError) {
            guard UInt64(bytes.count) <= rest else { throw ExportArchive.otherSize }
            rest -= UInt64(bytes.count)
            hash.update(data: bytes)
            try archive.write(bytes)
        }

        func end() throws(ControlError) {
            guard rest == 0 else { throw ExportArchive.otherSize }
            archive.checksums += Array((ExportFormat.checksum(hash.finalize(), of: entry.name) + "\n").utf8)
            try archive.write(entry.padding)
        }
    }

    func begin(_ name: String, size: UInt64) throws(ControlError) -> File {
        try File(name, size: size, in: self)
    }

    private func write(_ bytes: [UInt8]) throws(ControlError) {
        byteCount += UInt64(bytes.count)
        try put(bytes)
    }

    private static let otherSize = ControlError(
        .damaged, "The agent gave another number of bytes than it said; there is no export.",
        hint: "Check what it has: lanyard doctor --deep")
}

/// Lines that are kept aside.
final class LineSpool {
    private static let partBytes = 256 << 10

    private let file: TemporaryFile
    private var pending: [UInt8] = []
    private(set) var lineCount = 0

    init(directory: String) throws(ControlError) { file = try TemporaryFile(in: directory) }

    /// - Returns: how long the line is.
    @discardableResult
    func add(_ value: some Encodable) throws(ControlError) -> Int {
        let line = JSONEncoding.bytes(value) + [0x0A]
        pending += line
        lineCount += 1
        if pending.count >= Self.partBytes { try flush() }
        return line.count
    }

    private func flush() throws(ControlError) {
        try file.write(pending)
        pending = []
    }

    /// - Returns: how many bytes there are.
    func end() throws(ControlError) -> UInt64 {
        try flush()
        return file.size
    }

    /// Reads the archive; to be called after `end`.
    func read(_ body: ([UInt8]) throws(ControlError) -> Void) throws(ControlError) {
        var offset: UInt64 = 0
        while offset < file.size {
            let bytes = try file.read(at: offset, count: Self.partBytes)
            try body(bytes)
            offset += UInt64(bytes.count)
        }
    }
}
