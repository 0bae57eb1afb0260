import Foundation
import Testing

/// The parts of `deploy/package` that need no root: `deploy/package.d/check` builds, installs, upgrades and removes the package.
@Suite struct PackageTests {
    @Test(arguments: [["--nonsense"], ["--purge"], ["--out", "/dev/null", "extra"]])
    func `wrong arguments are a matter of usage`(_ arguments: [String]) async throws {
        let outcome = try await Staging().run([Staging.repository + "/deploy/package"] + arguments)
        #expect(outcome.status == 2 && outcome.output.contains("--binaries DIR"), "\(outcome.output)")
    }

    @Test func `the manual shows what a program says of itself, also dots, quotes and backslashes`() async throws {
        let staging = try Staging()
        let program = Self.program(
            abstract: #".so \"/etc/shadow\" \\fB and 'more'."#, usage: #"lanyard put NAME|- [--dry-run]"#)
        let outcome = try await staging.makeManual(of: program)
        #expect(outcome.status == 0, "\(outcome.output)")
        let page = try String(contentsOfFile: staging.folder + "/manual/lanyard-put.1", encoding: .utf8)
        // No line begins a request that the text brought along, and a backslash is shown.
        #expect(!page.contains("\n.so") && !page.contains("\n'more"), "\(page)")
        #expect(page.contains(#"\&.so "/etc/shadow" \efB and 'more'."#), "\(page)")
        #expect(page.contains(#"\fBlanyard put\fR NAME|\- [\-\-dry\-run]"#), "\(page)")
        #expect(page.contains("\\fB\\-\\-dry\\-run\\fR\n") && !page.contains("secret"), "\(page)")
        let overview = try String(contentsOfFile: staging.folder + "/manual/lanyard.1", encoding: .utf8)
        #expect(overview.contains(#".BR lanyard\-put (1)"#), "\(overview)")
    }

    @Test func `the same program and date give the same pages`() async throws {
        let staging = try Staging()
        let program = Self.program(abstract: "Put it.", usage: "lanyard put")
        #expect(try await staging.makeManual(of: program).status == 0)
        let first = try Data(contentsOf: URL(fileURLWithPath: staging.folder + "/manual/lanyard.1"))
        #expect(try await staging.makeManual(of: program).status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: staging.folder + "/manual/lanyard.1")) == first)
    }

    @Test(arguments: ["echo no JSON", "echo '{\"serializationVersion\":7,\"command\":{}}'", "exit 3"])
    func `a program that does not describe itself makes no manual`(_ script: String) async throws {
        let staging = try Staging()
        let outcome = try await staging.makeManual(of: "#!/bin/sh\n\(script)\n")
        #expect(outcome.status == 1 && outcome.output.hasPrefix("manpages: "), "\(outcome.output)")
        #expect(!FileManager.default.fileExists(atPath: staging.folder + "/manual"))
    }

    /// A program with one command, `put`, which has an option that is shown and one that is not.
    private static func program(abstract: String, usage: String) -> String {
        func flag(_ name: String, shown: Bool) -> String {
            """
            {"kind":"flag","names":[{"kind":"long","name":"\(name)"}],"shouldDisplay":\(shown),"valueName":"\(name)",
             "isRepeating":false,"abstract":"Only look."}
            """
        }
        return """
            #!/bin/sh
            case "$1" in
            --version) echo 'lanyard 0.1.0' ;;
            --help | help) echo 'USAGE: \(usage)' ;;
            *) cat <<'END' ;;
            {"serializationVersion":0,"command":{"commandName":"lanyard","abstract":"Keeps it.","shouldDisplay":true,
             "subcommands":[{"commandName":"put","abstract":"\(abstract)","shouldDisplay":true,
              "arguments":[\(flag("dry-run", shown: true)),\(flag("secret", shown: false))]}]}}
            END
            esac

            """
    }
}

extension Staging {
    /// The manual of two programs that are both this script, in `manual`.
    fileprivate func makeManual(of script: String) async throws -> Outcome {
        let programs = folder + "/described"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        for name in ["lanyard", "lanyardd"] {
            #expect(
                FileManager.default.createFile(
                    atPath: "\(programs)/\(name)", contents: Data(script.utf8), attributes: [.posixPermissions: 0o755]))
        }
        return try await run([
            Self.repository + "/deploy/package.d/manpages", "--programs", programs, "--date", "2026-01-31",
            folder + "/manual",
        ])
    }
}
