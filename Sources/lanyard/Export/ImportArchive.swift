import ControlAPI
import Crypto

/// An export that is read more than once: its files by name, wherever they are in it.
///
/// Opening it reads all of it: a truncated or damaged file, or one that is no export, is refused before anything is written.
/// Names in it only find files in it; nothing is unpacked.
final class ImportArchive: Sendable {
    struct Place: Equatable, Sendable {
        let offset: UInt64
        let size: UInt64
        fileprivate let digest: String
    }

    /// The most bytes of the file that identifies the archive.
    private static let headerBytes: UInt64 = 64 << 10
    private static let partBytes = 256 << 10
    /// The most bytes of a line. Texts grow beyond the size of one put.
    private static let lineBytes = 256 << 20

    let header: ExportHeader
    private let file: FileInput
    private let places: [[UInt8]: Place]

    /// - Parameter progress: told how many bytes more were read.
    /// - Throws: `not_an_archive`, `truncated`, `damaged`, `version_mismatch`, `file_unreadable`, `file_changed`.
    init(_ file: FileInput, progress: (Int) -> Void) throws(ControlError) {
        self.file = file
        places = try Self.places(in: file, progress)
        header = try Self.header(file, places[ExportFormat.header.bytewise])
        try forEachLine(of: ExportFormat.checksums) { line, _ throws(ControlError) in try check(line) }
    }

    private static func places(
        in file: FileInput, _ progress: (Int) -> Void
    ) throws(ControlError) -> [[UInt8]: Place] {
        var (reader, places): (TarReader, [[UInt8]: Place]) = (TarReader(), [:])
        var (offset, position): (UInt64, UInt64) = (0, 0)
        var current: (name: [UInt8], offset: UInt64, size: UInt64)?
        var hash = SHA256()
        func endFile() {
            guard let ended = current else { return }
            // As tar does: the last file of a name counts.
            places[ended.name] = Place(
                offset: ended.offset, size: ended.size, digest: Hexadecimal.text(hash.finalize()))
            (current, hash) = (nil, SHA256())
        }
        while !reader.isAtEnd {
            let bytes = try file.bytes(at: offset, count: partBytes)
            guard !bytes.isEmpty else {
                throw ControlError(
                    offset == 0 ? .notAnArchive : .truncated,
                    offset == 0 ? "The export is empty." : "The export ends too early: it was cut off.",
                    hint: "Copy it again, or give another; nothing was imported.")
            }
            progress(bytes.count)
            offset += UInt64(bytes.count)
            reader.append(bytes)
            while let piece = try reader.next() {
                switch piece {
                case .entry(let entry, let raw):
                    endFile()
                    position += UInt64(raw.count)
                    current = (name(entry.name).bytewise, position, entry.size)
                case .bytes(let part):
                    position += UInt64(part.count)
                    hash.update(data: part)
                case .filler(let part): position += UInt64(part.count)
                case .end: endFile()
                }
            }
        }
        return places
    }

    /// `tar -C FOLDER .` writes names so.
    private static func name(_ name: String) -> String { name.hasPrefix("./") ? String(name.dropFirst(2)) : name }

    private static func header(_ file: FileInput, _ place: Place?) throws(ControlError) -> ExportHeader {
        guard let place, place.size <= headerBytes,
            let found = try? JSONDecoding.value(
                ExportHeader.self, from: file.bytes(at: place.offset, count: Int(place.size)), unknownKeys: .ignore)
        else {
            throw ControlError(
                .notAnArchive, "This is no export of Lanyard.", hint: "Give a file that lanyard export wrote.")
        }
        guard found.lanyardExport <= ExportFormat.version else {
            throw ControlError(
                .versionMismatch, "The export was made by a newer Lanyard (\(shown(found.version))).",
                hint: "Upgrade Lanyard on this device, then import it; nothing was imported.")
        }
        return found
    }

    private func check(_ line: ArraySlice<UInt8>) throws(ControlError) {
        guard let (digits, name) = ExportFormat.checksum(line: line) else { return }
        guard places[name]?.digest == digits else {
            throw ControlError(
                .damaged,
                "\(shown(String(decoding: name, as: UTF8.self))) in the export is not what was exported; nothing was imported.",
                hint: "Copy it again, or give another. If you changed it on purpose, take its line out of SHA256SUMS.")
        }
    }

    func place(of name: String) -> Place? { places[name.bytewise] }

    // MARK: Lines

    /// Calls `body` with the content of each line, in order. A missing file has none.
    func forEach<Value: Decodable>(
        _ type: Value.Type, of name: String, _ body: (Value) async throws(ControlError) -> Void
    ) async throws(ControlError) {
        guard let place = place(of: name) else { return }
        var lines = Lines(place)
        while let line = try lines.next(from: self, name) { try await body(try value(line, lines.number, name)) }
    }

    /// The same before anything is done: an error says which line it is about.
    func check<Value: Decodable>(
        _ type: Value.Type, of name: String, _ body: (Value) throws(ControlError) -> Void
    ) throws(ControlError) {
        try forEachLine(of: name) { line, number throws(ControlError) in
            let value: Value = try value(line, number, name)
            do throws(ControlError) { try body(value) } catch { throw Self.badLine(name, number, error.message) }
        }
    }

    private func forEachLine(
        of name: String, _ body: (ArraySlice<UInt8>, Int) throws(ControlError) -> Void
    ) throws(ControlError) {
        guard let place = place(of: name) else { return }
        var lines = Lines(place)
        while let line = try lines.next(from: self, name) { try body(line, lines.number) }
    }

    private func value<Value: Decodable>(
        _ line: ArraySlice<UInt8>, _ number: Int, _ name: String
    ) throws(ControlError) -> Value {
        do throws(ControlError) {
            return try JSONDecoding.value(Value.self, from: Array(line), unknownKeys: .ignore)
        } catch {
            throw Self.badLine(name, number, error.message)
        }
    }

    private static func badLine(_ name: String, _ number: Int, _ reason: String) -> ControlError {
        ControlError(
            .malformedJSON, "Line \(number) of \(name) is not as it should be: \(reason)",
            hint: "Make the export again, or mend the line; nothing was imported.", line: number)
    }

    /// The lines of a file, one after the other; empty ones are left out.
    private struct Lines {
        private let place: Place
        private var offset: UInt64 = 0
        private var pending: [UInt8] = []
        private var position = 0
        /// The number of the line that was returned last, from 1.
        private(set) var number = 0

        init(_ place: Place) { self.place = place }

        mutating func next(from archive: ImportArchive, _ name: String) throws(ControlError) -> ArraySlice<UInt8>? {
            var searched = position
            while true {
                if let end = pending[searched...].firstIndex(of: 0x0A) ?? (isAtEnd ? pending.endIndex : nil) {
                    if end == pending.endIndex, position == end { return nil }
                    let line = pending[position..<end]
                    position = min(end + 1, pending.endIndex)
                    searched = position
                    number += 1
                    if line.isEmpty { continue }
                    return line
                }
                guard pending.count - position <= ImportArchive.lineBytes else {
                    throw ImportArchive.badLine(name, number + 1, "it is too long.")
                }
                searched = pending.count - position
                pending.removeFirst(position)
                position = 0
                pending += try archive.read(place, at: offset)
                offset = min(place.size, offset + UInt64(ImportArchive.partBytes))
            }
        }

        private var isAtEnd: Bool { offset == place.size }
    }

    // MARK: Bytes

    fileprivate func read(_ place: Place, at offset: UInt64) throws(ControlError) -> [UInt8] {
        let count = Int(min(place.size - offset, UInt64(Self.partBytes)))
        return try file.bytes(at: place.offset + offset, count: count)
    }

    /// The bytes of a file.
    func contents(_ place: Place) -> Contents { Contents(archive: self, place: place) }

    struct Contents: AsyncSequence, Sendable {
        typealias Element = [UInt8]
        fileprivate let archive: ImportArchive
        fileprivate let place: Place

        func makeAsyncIterator() -> Iterator { Iterator(contents: self) }

        struct Iterator: AsyncIteratorProtocol {
            fileprivate let contents: Contents
            private var offset: UInt64 = 0

            fileprivate init(contents: Contents) { self.contents = contents }

            mutating func next() async throws(ControlError) -> [UInt8]? {
                guard offset < contents.place.size else { return nil }
                let bytes = try contents.archive.read(contents.place, at: offset)
                offset += UInt64(bytes.count)
                return bytes
            }
        }
    }
}
