import Testing

@Suite struct ImportTests {
    /// The module that a line imports, if it is an import.
    private func importedModule(_ line: Substring) -> Substring? {
        guard line.mentions("import ") else { return nil }
        let pattern =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
        return line.firstMatch(of: pattern)?.1
    }

    @Test func `every import in Sources is one that its target is allowed`() throws {
        let repository = try Repository()
        var faults: [String] = []
        // Generated code too: what it imports is linked all the same.
        for path in repository.paths where path.hasPrefix("Sources/") && path.hasSuffix(".swift") {
            let allowed = Permissions.modules(for: path)
            faults += try repository.file(path).faults { line in
                guard let module = importedModule(line) else { return nil }
                guard let allowed else { return "no permission is written down for this target" }
                return allowed.contains(module) ? nil : "may not import \(module)"
            }
        }
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test func `a reference model imports nothing, and its judge only what it compares`() throws {
        for target in Permissions.judges {
            let files = try Repository().swiftFiles(target.path)
            #expect(!files.isEmpty, "\(target.path) is gone")
            let faults = files.flatMap { file in
                file.faults { line in
                    guard let module = importedModule(line) else { return nil }
                    return Permissions.modules(for: file.path)?.contains(module) == true
                        ? nil : "may not import \(module)"
                }
            }
            #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
        }
    }

    @Test func `an import is recognised in all its forms`() {
        for line in [
            "import NIOCore", "  import NIOCore", "public import NIOCore", "@preconcurrency import NIOCore",
            "@_spi(Testing) package import struct NIOCore.ByteBuffer", "internal import NIOCore.ByteBuffer",
        ] { #expect(importedModule(line[...]) == "NIOCore") }
        for line in ["// import NIOCore", "let imported = 1", "important NIOCore"] {
            #expect(importedModule(line[...]) == nil)
        }
    }

    @Test func `a longer path has its own permission`() {
        #expect(Permissions.modules(for: "Sources/ReplicatedTypes/Clocks/Stamp.swift") == [])
        #expect(Permissions.modules(for: "Sources/SyncModel/Wire/FrameCodec.swift")?.contains("SwiftProtobuf") == true)
        #expect(Permissions.modules(for: "Sources/lanyard/Lanyard.swift")?.contains("LanyardClient") == true)
        #expect(Permissions.modules(for: "Sources/SyncElse/A.swift") == nil)
    }

    @Test func `every permission is for something that exists`() throws {
        let repository = try Repository()
        for permission in Permissions.table { #expect(repository.exists("Sources/" + permission.path)) }
    }
}
