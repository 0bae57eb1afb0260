import Foundation

/// The files of this repository as the rules see them: paths from its top, sorted; build products left out.
struct Repository {
    struct File {
        let path: String
        let lines: [Substring]

        var name: String { String(path.split(separator: "/").last ?? "") }

        /// "path:line: what is wrong" for each line that `rule` finds fault with.
        func faults(_ rule: (Substring) -> String?) -> [String] {
            lines.enumerated().compactMap { number, line in rule(line).map { "\(path):\(number + 1): \($0)" } }
        }
    }

    let root: URL
    let paths: [String]

    init(filePath: String = #filePath) throws {
        root = URL(fileURLWithPath: filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let files = FileManager.default
        var paths: [String] = []
        for top in try files.contentsOfDirectory(atPath: root.path) where ![".build", ".git", ".swiftpm"].contains(top)
        {
            paths.append(top)
            let below = (try? files.subpathsOfDirectory(atPath: root.appending(path: top).path)) ?? []
            paths += below.map { top + "/" + $0 }.filter { !$0.hasPrefix("Tests/Fuzz/Corpus/") }
        }
        self.paths = paths.sorted()
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root.appending(path: path).path) }

    func file(_ path: String) throws -> File {
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            Substring($0)
        }
        return File(path: path, lines: lines)
    }

    /// Swift files below `folders` that people write.
    func swiftFiles(_ folders: String...) throws -> [File] {
        try paths.filter { path in
            path.hasSuffix(".swift") && !path.contains("/Generated/") && folders.contains { path.hasPrefix($0 + "/") }
        }.map(file)
    }
}

extension Substring {
    /// Byte for byte: most lines are sorted out by this, for regular expressions are slow.
    func mentions(_ word: String) -> Bool {
        let word = Array(word.utf8)
        var rest = utf8[...]
        while let index = rest.firstIndex(of: word[0]) {
            rest = rest[index...]
            if rest.starts(with: word) { return true }
            rest.removeFirst()
        }
        return false
    }
}
