import ControlAPI
import Foundation
import Testing

@Suite struct ArchiveTests {
    private struct File: Equatable {
        var name: String
        var bytes: [UInt8]
    }

    private static let files = [
        File(name: "plain.txt", bytes: Array("hello".utf8)), File(name: "empty", bytes: []),
        File(name: "folder/of/a block", bytes: [UInt8](repeating: 3, count: 512)),
        File(name: "bilder/größe 🙂.png", bytes: [UInt8](repeating: 4, count: 1_025)),
        File(name: String(repeating: "long/", count: 60) + "name", bytes: [1, 2, 3]),
    ]

    private func archive(_ files: [File]) -> [UInt8] {
        files.flatMap { file in
            let entry = TarEntry(file.name, size: UInt64(file.bytes.count))
            return entry.header + file.bytes + entry.padding
        } + TarEntry.end
    }

    /// What is in an archive that comes in parts of a length; and that each byte was handed over once.
    private func read(_ bytes: [UInt8], partBytes: Int) throws -> [File] {
        var (reader, files, raw): (TarReader, [File], [UInt8]) = (TarReader(), [], [])
        for start in stride(from: 0, to: bytes.count, by: partBytes) {
            reader.append(Array(bytes[start..<min(start + partBytes, bytes.count)]))
            while let piece = try reader.next() {
                switch piece {
                case .entry(let entry, let header):
                    files.append(File(name: entry.name, bytes: []))
                    raw += header
                case .bytes(let part):
                    files[files.count - 1].bytes += part
                    raw += part
                case .filler(let part): raw += part
                case .end: break
                }
            }
        }
        #expect(reader.isAtEnd)
        #expect(raw == Array(bytes.prefix(raw.count)))
        #expect(bytes[raw.count...].allSatisfy { $0 == 0 })
        return files
    }

    @Test(arguments: [1, 7, 511, 512, 513, 100_000])
    func `what is written is read, however it comes`(partBytes: Int) throws {
        #expect(try read(archive(Self.files), partBytes: partBytes) == Self.files)
        #expect(try read(archive([]), partBytes: partBytes) == [])
    }

    @Test func `a file beyond 8 GiB has its size`() throws {
        var reader = TarReader()
        for size in [UInt64(1) << 33 - 1, 1 << 33, 5 << 40] {
            reader = TarReader()
            reader.append(TarEntry("large", size: size).header)
            guard case .entry(let entry, _)? = try reader.next() else {
                Issue.record("no entry")
                continue
            }
            #expect(entry == TarEntry("large", size: size))
        }
    }

    /// The system's tar, which people have.
    private func tar(_ arguments: String...) async throws -> CommandRun {
        try await CommandRun.program("/bin/tar", arguments)
    }

    @Test func `the system's tar unpacks what is written, and what it packs is read`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path
        try Data(archive(Self.files)).write(to: URL(fileURLWithPath: path + "/ours.tar"))
        let unpacked = path + "/unpacked"
        try FileManager.default.createDirectory(atPath: unpacked, withIntermediateDirectories: true)
        let run = try await tar("-xf", path + "/ours.tar", "-C", unpacked)
        #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
        for file in Self.files {
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(unpacked)/\(file.name)")) == Data(file.bytes))
        }
        for format in ["gnu", "pax", "ustar"] {
            let packed = "\(path)/\(format).tar"
            let names = Self.files.map(\.name).filter { format != "ustar" || $0.utf8.count <= 100 }
            let made = try await CommandRun.program(
                "/bin/tar", ["--format=\(format)", "-cf", packed, "-C", unpacked] + names)
            #expect(made.exitCode == 0, "\(made.errors)")
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: packed)))
            #expect(try read(bytes, partBytes: 1_000) == Self.files.filter { names.contains($0.name) }, "\(format)")
        }
        // As somebody packs a folder: with the folders themselves.
        #expect(try await tar("-cf", path + "/folder.tar", "-C", unpacked, "plain.txt", "folder").exitCode == 0)
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path + "/folder.tar")))
        #expect(try read(bytes, partBytes: 4_096).map(\.name) == ["plain.txt", "folder/of/a block"])
    }

    @Test func `links and other bytes are refused, and no bytes trap`() async throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: "/etc/passwd")
        #expect(try await tar("-cf", folder.path + "/link.tar", "-C", folder.path, "link").exitCode == 0)
        let link = Array(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/link.tar")))
        #expect(throws: ControlError.self) { try read(link, partBytes: 512) }
        #expect(throws: ControlError.self) { try read([UInt8](repeating: 0x41, count: 2_048), partBytes: 512) }
        var random = SystemRandomNumberGenerator()
        let whole = archive(Self.files)
        for _ in 0..<3_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var reader = TarReader()
            reader.append(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))))
            while let piece = try? reader.next(), piece != .end {}
        }
    }
}
