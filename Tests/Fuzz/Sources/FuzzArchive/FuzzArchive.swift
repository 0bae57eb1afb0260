import ControlAPI

/// Any bytes as an archive that somebody restores or imports: they come to the same files however they are cut, no byte is lost or
/// made up, and what a file of it says is read or refused.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let whole = read([bytes])
    let middle = bytes.count / 2
    let halves = read([Array(bytes[..<middle]), Array(bytes[middle...])])
    precondition(whole.files == halves.files && whole.isWhole == halves.isWhole, "files depend on how they come")
    precondition(bytes.starts(with: whole.bytes), "an archive gives bytes that it does not have")
    for file in whole.files { describe(file.contents) }
    describe(bytes)
    packAgain(whole.files)
    return 0
}

private struct File: Equatable {
    let entry: TarEntry
    var contents: [UInt8] = []
}

private func read(_ parts: [[UInt8]]) -> (files: [File], bytes: [UInt8], isWhole: Bool) {
    var reader = TarReader()
    var files: [File] = []
    var bytes: [UInt8] = []
    for part in parts {
        reader.append(part)
        do {
            while let piece = try reader.next() {
                switch piece {
                case .entry(let entry, let raw):
                    files.append(File(entry: entry))
                    bytes += raw
                case .bytes(let more):
                    files[files.count - 1].contents += more
                    bytes += more
                case .filler(let more): bytes += more
                case .end: return (files, bytes, true)
                }
            }
        } catch {
            precondition(error.code == .notAnArchive)
            return (files, bytes, false)
        }
    }
    return (files, bytes, false)
}

/// What was read is written so that it reads the same.
private func packAgain(_ files: [File]) {
    let whole = files.filter { UInt64($0.contents.count) == $0.entry.size }
    let archive = whole.flatMap { $0.entry.header + $0.contents + $0.entry.padding } + TarEntry.end
    let again = read([archive])
    precondition(again.isWhole && again.files == whole, "a file is lost in an archive of ours")
}

/// As each of the lines and headers that are in backups and exports.
private func describe(_ bytes: [UInt8]) {
    _ = try? JSONDecoding.value(BackupHeader.self, from: bytes, unknownKeys: .ignore)
    _ = try? JSONDecoding.value(BackupChecksum.self, from: bytes, unknownKeys: .ignore)
    _ = try? JSONDecoding.value(ExportHeader.self, from: bytes, unknownKeys: .ignore)
    _ = try? JSONDecoding.value(ExportedSchema.self, from: bytes, unknownKeys: .ignore)
    _ = try? JSONDecoding.value(ExportedObject.self, from: bytes, unknownKeys: .ignore)
    _ = try? JSONDecoding.value(ExportedStream.self, from: bytes, unknownKeys: .ignore)
    _ = try? JSONDecoding.value(ExportedEvent.self, from: bytes, unknownKeys: .ignore)
    _ = try? JSONDecoding.value(ExportedAttachment.self, from: bytes, unknownKeys: .ignore)
    if let line = ExportFormat.checksum(line: bytes[...]) { precondition(!line.digits.isEmpty) }
    _ = BackupFormat.hash(ofBlob: String(decoding: bytes, as: UTF8.self))
}
