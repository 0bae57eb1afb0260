import Glibc

/// The versions that a data directory tells of itself without being opened: which program opened its store last, and which
/// databases from before an upgrade are kept. Reads files and changes none.
package struct StoreVersions: Hashable, Sendable {
    /// The version of the program that opened the store last; nil if its file does not tell.
    package let program: String?
    /// The path of the newest database from before an upgrade that a program of schema `known` can open; nil if none is kept.
    package let kept: String?
    /// The schema version of that database.
    package let keptSchema: Int?

    /// - Parameter known: the newest schema version that is of use.
    package init(in directory: String, known: Int) {
        let files = StoreFiles(directory: directory)
        program = files.program
        keptSchema = (1...max(1, known)).last { access(files.copy(ofVersion: $0), F_OK) == 0 }
        kept = keptSchema.map { files.copy(ofVersion: $0) }
    }
}

// The version of the program that opened the store last.
extension StoreFiles {
    private static let programBytes = 64

    private var programFile: String { database + ".program" }

    /// Nil if the file is missing, or holds anything but a version: it is shown to people.
    var program: String? {
        let descriptor = Glibc.open(programFile, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        let text = String(decoding: FileBytes.read(descriptor, upTo: Self.programBytes + 1), as: UTF8.self)
        guard text.utf8.count <= Self.programBytes, text.hasSuffix("\n") else { return nil }
        let version = text.dropLast()
        let isVersion = version.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "~"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isVersion && !version.isEmpty ? String(version) : nil
    }

    /// Writes the version if another one is there. Errors are ignored: the file only makes a sentence more precise.
    func record(program version: String) {
        guard program != version else { return }
        let partial = programFile + ".partial"
        let descriptor = Glibc.open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let bytes = Array((version + "\n").utf8)
        let count = Glibc.write(descriptor, bytes, bytes.count)
        Glibc.close(descriptor)
        if count != bytes.count || rename(partial, programFile) != 0 { unlink(partial) }
    }
}
