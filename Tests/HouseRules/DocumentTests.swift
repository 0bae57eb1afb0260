import Testing

@Suite struct DocumentTests {
    private static let documents = [
        "README.md", "Sources/ARCHITECTURE.md", "Sources/PROTOCOL.md", "deploy/README.md", "deploy/GUIDE.md",
        ".github/SECURITY.md",
    ]
    /// What a path in back quotes may begin with, from the top or from Sources.
    private static let tops = ["Sources", "Tests", "deploy", ".ci", ".github"]

    @Test(arguments: documents) func `every link and every path leads to something`(document: String) throws {
        let repository = try Repository()
        let folder = document.split(separator: "/").dropLast().joined(separator: "/")
        let targets = Set(repository.paths.filter { $0.hasPrefix("Sources/") }.map { $0.split(separator: "/")[1] })
        let faults = try repository.file(document).faults { line in
            for link in line.matches(of: /\]\(([^)#\s]+)[^)]*\)/).map(\.1) where !link.contains(":") {
                if !repository.exists(folder.isEmpty ? String(link) : folder + "/" + link) {
                    return "dead link \(link)"
                }
            }
            for path in line.matches(of: /`([.\w-]+\/[\w.\/+-]*)`/).map(\.1) {
                let top = path.prefix { $0 != "/" }
                // Names on the wire (`lanyard/1`) look like paths.
                guard top != "lanyard" else { continue }
                if Self.tops.contains(String(top)) {
                    if !repository.exists(String(path)) { return "dead path \(path)" }
                } else if targets.contains(top), !repository.exists("Sources/" + path) {
                    return "dead path \(path)"
                }
            }
            return nil
        }
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test func `the top level holds what it should and nothing else`() throws {
        let allowed: Set = ["Package.swift", "Package.resolved", "README.md", "Sources", "Tests", "deploy"]
        let tops = Set(try Repository().paths.map { String($0.prefix { $0 != "/" }) })
        let strangers = tops.filter { !$0.hasPrefix(".") }.subtracting(allowed).sorted()
        #expect(strangers.isEmpty, "\(strangers)")
    }
}
