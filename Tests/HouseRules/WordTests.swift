import Testing

@Suite struct WordTests {
    private static let banned: Set<Substring> = [
        "Manager", "Helper", "Helpers", "Util", "Utils", "Utilities", "Impl", "Base", "Info", "Common", "New", "V2",
        "Mock",
    ]

    private static let keywords = ["struct ", "class ", "enum ", "actor ", "protocol ", "typealias "]

    /// The words of a name in camel case: `HTTPBaseRoute` → HTTP, Base, Route.
    private func words(_ name: Substring) -> [Substring] {
        name.matches(of: /[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*/).map(\.output)
    }

    private func expectNone(_ faults: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    @Test func `no type is named after nothing in particular`() throws {
        let declaration = /^\s*(?:[\w@()]+\s+)*(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)/
        expectNone(
            try Repository().swiftFiles("Sources", "Tests").flatMap { file in
                file.faults { line in
                    guard Self.keywords.contains(where: line.mentions), let name = line.firstMatch(of: declaration)?.1
                    else { return nil }
                    return words(name).first { Self.banned.contains($0) }.map { "\(name): say what it is, not \($0)" }
                }
            })
        #expect(words("HTTPBaseRoute") == ["HTTP", "Base", "Route"])
        #expect(words("Base32") == ["Base32"])
    }

    private static let mannered = ["whoever", "somebody", "nobody", "whom"]
    private static let fragments = ["Of ", "What ", "Who ", "Whose ", "It ", "Not ", "Nothing ", "Whether ", "How "]

    /// The first sentence of a doc comment says what the thing is or what the function does.
    @Test func `no doc comment begins with a fragment`() throws {
        expectNone(
            try Repository().swiftFiles("Sources").flatMap { file in
                zip(["" as Substring] + file.lines, file.lines).enumerated().compactMap { number, pair in
                    let (before, line) = pair
                    let text = line.drop { $0 == " " }
                    guard text.hasPrefix("/// "), !before.drop(while: { $0 == " " }).hasPrefix("///"),
                        let word = Self.fragments.first(where: text.dropFirst(4).hasPrefix)
                    else { return nil }
                    return "\(file.path):\(number + 1): begins with \(word)"
                }
            })
    }

    /// The subject of a sentence is a thing with a name.
    @Test func `comments name the peer, the author, the store`() throws {
        expectNone(
            try Repository().swiftFiles("Sources").flatMap { file in
                file.faults { line in
                    guard line.mentions("//"), let start = line.firstRange(of: "//")?.lowerBound else { return nil }
                    let words = line[start...].lowercased().split { !($0.isLetter || $0 == "_" || $0 == "`") }
                    return words.first { Self.mannered.contains(String($0)) }.map { "say which thing, not \($0)" }
                }
            })
    }

    @Test func `nothing unfinished is marked in Sources`() throws {
        let marks = ["TODO", "FIXME"]
        expectNone(
            try Repository().swiftFiles("Sources").flatMap { file in
                file.faults { line in marks.first(where: line.mentions).map { "\($0): do it, or open an issue" } }
            })
    }

    @Test func `no switch in the core has a default`() throws {
        expectNone(
            try Repository().swiftFiles("Sources/SyncCore").flatMap { file in
                file.faults {
                    $0.mentions("default") && $0.contains(/^\s*(@unknown\s+)?default\s*:/) ? "name the cases" : nil
                }
            })
    }

    @Test func `no path of one machine is written down`() throws {
        let repository = try Repository()
        let machine = /(?:^|[\s"'`=:(])\/(work|root|Users|home\/\w+|tmp\/wt)\//
        let faults = repository.paths.flatMap { path -> [String] in
            guard path.contains("/") || path.hasSuffix(".md"),
                path.hasPrefix("Sources") || path.hasPrefix("Tests")
                    || path.hasPrefix("deploy") || path.hasPrefix(".ci") || path.hasPrefix(".github"),
                let file = try? repository.file(path)
            else { return [] }
            return file.faults { line in
                guard line.mentions("/") else { return nil }
                return line.firstMatch(of: machine).map { "\($0.0)" }
            }
        }
        expectNone(faults)
    }

    /// Waiting for a condition, with a bound, needs a pause between looks; nothing else does.
    private static let pauses: [String: Int] = [
        // A condition is looked at every few milliseconds, up to a deadline.
        "Tests/ControlTests/Support/LiveAgent.swift": 1,
        "Tests/DiscoveryTests/TwoMachines.swift": 1,
        "Tests/RigTests/Rig.swift": 2,
        // The bound itself: what is waited for ends it early.
        "Tests/TransportTests/Support/Bounded.swift": 1,
        // The time that passes is the subject: a random moment to kill at, a silence of given length.
        "Tests/RigTests/KillStormTests.swift": 1,
        "Tests/RigTests/RigCommandTests.swift": 1,
    ]

    @Test func `tests wait for a condition, not for time`() throws {
        let pause = /\b(Task\.sleep|Thread\.sleep|usleep\(|nanosleep\()/
        for file in try Repository().swiftFiles("Tests") where file.name != "WordTests.swift" {
            let count = file.lines.count { $0.mentions("sleep") && $0.contains(pause) }
            #expect(count <= Self.pauses[file.path, default: 0], "\(file.path) sleeps \(count) times")
        }
    }
}
