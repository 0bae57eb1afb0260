/// A part of a backup other than the files that describe it.
package enum BackupPiece: Equatable, Sendable {
    case file(TarEntry)
    case bytes([UInt8])
}

/// SHA-256, which the user of a `BackupReader` brings: this target computes nothing of the kind.
package protocol BackupHash {
    init()
    mutating func update(_ bytes: [UInt8])
    /// The hash of all bytes so far, in hexadecimal.
    var hexadecimal: String { get }
}

/// Takes a backup apart while its bytes come, and checks all of it: the form, the version, the length, the hash. What it hands
/// over is to be believed only once `finish` returned.
package struct BackupReader<Hash: BackupHash> {
    /// A part of a backup other than the files that describe it.
    package typealias Piece = BackupPiece

    /// Nil before its first file came.
    package private(set) var header: BackupHeader?
    package private(set) var attachmentCount = 0
    /// Blobs that it does not hold, though it may have a file of their name.
    package private(set) var leftOut: [String] = []
    /// The number of bytes read so far.
    package private(set) var byteCount: UInt64 = 0

    private var tar = TarReader()
    private var hash = Hash()
    private var names: Set<String> = []
    private var current: TarEntry?
    /// The bytes of the current file, if it describes the backup.
    private var kept: [UInt8] = []
    /// The offset at which the checksum's own file begins, and the hash of the bytes before it.
    private var checked: (bytes: UInt64, hash: String)?
    private var checksum: BackupChecksum?
    private var isComplete = false

    package init() {}

    package mutating func append(_ bytes: [UInt8]) { tar.append(bytes) }

    /// Nil: it wants more bytes.
    ///
    /// - Throws: `not_an_archive`, `version_mismatch`, `damaged`.
    package mutating func next() throws(ControlError) -> Piece? {
        while let piece = try tar.next() {
            switch piece {
            case .entry(let entry, let raw):
                try endFile()
                if entry.name == BackupFormat.checksum { checked = (byteCount, hash.hexadecimal) }
                add(raw)
                try begin(entry)
                if !isAbout(entry) { return .file(entry) }
            case .bytes(let bytes):
                add(bytes)
                guard let current, isAbout(current) else { return .bytes(bytes) }
                kept += bytes
            case .filler(let bytes):
                guard bytes.allSatisfy({ $0 == 0 }) else { throw Self.damaged }
                add(bytes)
            case .end:
                try endFile()
                try check()
            }
        }
        return nil
    }

    /// - Throws: `truncated` where something is missing.
    package func finish() throws(ControlError) {
        guard isComplete else {
            guard header != nil || byteCount > 0 else { throw Self.notABackup }
            throw ControlError(
                .truncated, "The backup ends too early: it was cut off, or never finished.",
                hint: "Copy it again, or give another backup.")
        }
    }

    private mutating func add(_ bytes: [UInt8]) {
        byteCount += UInt64(bytes.count)
        hash.update(bytes)
    }

    private func isAbout(_ entry: TarEntry) -> Bool {
        entry.name == BackupFormat.header || entry.name == BackupFormat.checksum
    }

    private mutating func begin(_ entry: TarEntry) throws(ControlError) {
        guard header != nil || entry.name == BackupFormat.header else { throw Self.notABackup }
        guard checked == nil || entry.name == BackupFormat.checksum, names.insert(entry.name).inserted else {
            throw Self.damaged
        }
        let limit: UInt64
        switch entry.name {
        case BackupFormat.header: limit = BackupLimit.headerBytes
        case BackupFormat.checksum: limit = BackupLimit.checksumBytes
        case BackupFormat.identity: limit = BackupLimit.identityBytes
        case BackupFormat.database: limit = .max
        case _:
            guard BackupFormat.hash(ofBlob: entry.name) != nil else { throw Self.damaged }
            attachmentCount += 1
            limit = .max
        }
        guard entry.size <= limit else { throw Self.damaged }
        current = entry
    }

    private mutating func endFile() throws(ControlError) {
        guard let entry = current else { return }
        defer { (current, kept) = (nil, []) }
        if entry.name == BackupFormat.checksum {
            checksum = try? JSONDecoding.value(BackupChecksum.self, from: kept, unknownKeys: .ignore)
        }
        guard entry.name == BackupFormat.header else { return }
        guard let header = try? JSONDecoding.value(BackupHeader.self, from: kept, unknownKeys: .ignore) else {
            throw Self.notABackup
        }
        guard header.lanyardBackup <= BackupFormat.version, header.schema <= BackupFormat.schemaVersion else {
            throw ControlError(
                .versionMismatch,
                "The backup was made by a newer Lanyard (\(TerminalText.line(header.version)), schema \(header.schema); "
                    + "this one is \(LanyardVersion.current), schema \(BackupFormat.schemaVersion)).",
                hint: "Upgrade Lanyard on this device, then restore it.")
        }
        self.header = header
    }

    /// Compares the backup with its checksum, at the mark behind the last file.
    private mutating func check() throws(ControlError) {
        guard let checked, let found = checksum else {
            throw ControlError(
                .truncated, "The backup ends without its checksum: it never finished.", hint: "Give another backup.")
        }
        guard found.bytes == checked.bytes, found.sha256 == checked.hash,
            names.isSuperset(of: [BackupFormat.identity, BackupFormat.database])
        else { throw Self.damaged }
        leftOut = found.leftOut
        isComplete = true
    }

    private static var notABackup: ControlError {
        ControlError(
            .notAnArchive, "This is no backup of Lanyard.", hint: "Give a file that lanyard backup wrote.")
    }

    private static var damaged: ControlError {
        ControlError(
            .damaged, "The backup is damaged: it is not what was written.",
            hint: "Copy it again, or give another backup; nothing was restored.")
    }
}

private enum BackupLimit {
    static let headerBytes: UInt64 = 64 << 10
    static let checksumBytes: UInt64 = 64 << 20
    /// Four blocks of PEM are under 2 KiB.
    static let identityBytes: UInt64 = 16 << 10
}
