import Testing

@Suite struct DocumentTests {
    private static let documents = [
        "README.md",
        "Sources/ARCHITECTURE.md",
        "Sources/Decisions/README.md",
        "Sources/Decisions/01-segments.md",
        "Sources/Decisions/02-stamps-and-members.md",
        "Sources/Decisions/03-sending.md",
        "Sources/Decisions/04-deletion.md",
        "Sources/Decisions/05-stability.md",
        "Sources/Decisions/06-retirement.md",
        "Sources/Decisions/07-blocking.md",
        "Sources/Decisions/08-first-contexts.md",
        "Sources/Decisions/09-compaction.md",
        "Sources/Decisions/10-event-retention.md",
        "Sources/Decisions/11-open-changes.md",
        "Sources/Decisions/12-replicated-values.md",
        "Sources/Decisions/13-lists-and-text.md",
        "Sources/Decisions/14-large-objects.md",
        "Sources/Decisions/15-versions-and-blame.md",
        "Sources/Decisions/16-characters.md",
        "Sources/Decisions/17-attachments-on-disk.md",
        "Sources/Decisions/18-moving-bytes.md",
        "Sources/Decisions/19-backup-and-restore.md",
        "Sources/Decisions/20-export-and-import.md",
        "Sources/Decisions/21-consumers-and-snapshots.md",
        "Sources/Decisions/22-copied-keys.md",
        "Sources/Decisions/23-hostile-members.md",
        "Sources/Decisions/24-forks.md",
        "Sources/Decisions/25-state-transfer.md",
        "Sources/Decisions/26-local-writes.md",
        "Sources/Decisions/27-encodings.md",
        "Sources/Decisions/28-checking.md",
        "Sources/Decisions/29-core-machines.md",
        "Sources/Decisions/30-queries.md",
        "Sources/Decisions/31-library.md",
        "Sources/Decisions/32-presence.md",
        "Sources/Decisions/33-texts.md",
        "Sources/Decisions/34-pairing.md",
        "Sources/Decisions/35-upgrades.md",
        "Sources/Decisions/36-roles-and-revocation.md",
        "Sources/Decisions/37-ends-of-histories.md",
        "Sources/Examples/LightSwitch/README.md",
        "Sources/Examples/Notes/README.md",
        "Sources/Examples/Plays/README.md",
        "Sources/Examples/Todo/README.md",
        "Sources/GLOSSARY.md",
        "Sources/PROTOCOL.md",
        "Sources/SEMANTICS.md",
        "deploy/README.md",
        "deploy/GUIDE.md",
        "deploy/HTTP.md",
        "deploy/COMING-FROM.md",
        "deploy/FINDING-OUT.md",
        "deploy/METRICS.md",
        "deploy/monitoring/README.md",
        "Sources/Clients/python/README.md",
        "deploy/CHANGELOG.md",
        ".github/SECURITY.md",
        ".github/CONTRIBUTING.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
        ".github/ISSUE_TEMPLATE/bug.md",
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
