import Foundation
import Testing

@Suite struct InstallTests {
    @Test func `what is installed for a machine runs without the toolchain and goes without a trace`() async throws {
        let staging = try Staging()
        let installed = try await staging.install("--no-build")
        #expect(installed.status == 0, "\(installed.output)")
        let files = staging.files(below: staging.machine)
        for file in ["bin/lanyard", "bin/lanyardd", "lib/lanyard/lanyardd", "lib/systemd/system/lanyard.service"] {
            #expect(files.contains("usr/local/" + file))
        }
        let libraries = try await staging.run(["ldd", "\(staging.machine)/usr/local/lib/lanyard/lanyardd"])
        #expect(libraries.output.contains("\(staging.machine)/usr/local/lib/lanyard/libswiftCore.so"))
        #expect(!libraries.output.contains("not found") && !libraries.output.contains("/swift/linux/"))
        let version = try await staging.run(["\(staging.machine)/usr/local/lib/lanyard/lanyard", "version"])
        #expect(version.status == 0, "\(version.output)")

        let removed = try await staging.install("--uninstall")
        #expect(removed.status == 0, "\(removed.output)")
        #expect(staging.files(below: staging.machine) == [])
    }

    @Test func `what is installed for one person stays in that home, completions included`() async throws {
        let staging = try Staging()
        let installed = try await staging.install("--user", "--no-build", "--no-start")
        #expect(installed.status == 0, "\(installed.output)")
        let files = staging.files(below: staging.home)
        for file in [
            "bin/lanyard", "share/systemd/user/lanyard.service", "share/bash-completion/completions/lanyard",
            "share/zsh/site-functions/_lanyard", "share/fish/vendor_completions.d/lanyard.fish",
        ] {
            #expect(files.contains(".local/" + file), "\(file)")
        }
        #expect(staging.files(below: staging.machine) == [])
        let removed = try await staging.install("--user", "--uninstall")
        #expect(removed.status == 0, "\(removed.output)")
        #expect(staging.files(below: staging.home) == [])
    }

    @Test func `a system that refuses user namespaces gets a unit that does without them, and says so`() async throws {
        let staging = try Staging()
        let relaxation = ".local/share/systemd/user/lanyard.service.d/no-user-namespaces.conf"
        let refused = try await staging.installForUser(namespaces: false)
        #expect(refused.status == 0 && refused.output.contains("refuses user namespaces"), "\(refused.output)")
        #expect(staging.files(below: staging.home).contains(relaxation))
        let verdict = try await staging.run([
            "systemd-analyze", "--user", "verify", "--man=no",
            staging.home + "/.local/share/systemd/user/lanyard.service",
        ])
        #expect(verdict.status == 0 && verdict.output.isEmpty, "\(verdict.output)")

        // The system was changed since: the next installation protects.
        let allowed = try await staging.installForUser(namespaces: true)
        #expect(allowed.status == 0 && !allowed.output.contains("refuses"), "\(allowed.output)")
        #expect(!staging.files(below: staging.home).contains(relaxation))

        #expect(try await staging.installForUser(namespaces: false).status == 0)
        #expect(try await staging.install("--user", "--uninstall").status == 0)
        #expect(staging.files(below: staging.home) == [])
    }

    @Test func `the unit of a person who keeps data elsewhere lets the agent reach it`() async throws {
        let staging = try Staging()
        let share = staging.home + "/100%/share"
        let installed = try await staging.run(
            [Staging.repository + "/deploy/install", "--user", "--no-build", "--no-start"], ["XDG_DATA_HOME": share])
        #expect(installed.status == 0, "\(installed.output)")
        let unit = try String(contentsOfFile: share + "/systemd/user/lanyard.service", encoding: .utf8)
        #expect(unit.contains("\nBindPaths=-\(staging.home)/100%%/share/lanyard %t/lanyard\n"), "\(unit)")
    }

    @Test func `installing again replaces what was there and leaves nothing behind`() async throws {
        let staging = try Staging()
        #expect(try await staging.install("--no-build").status == 0)
        let first = staging.files(below: staging.machine)
        #expect(try await staging.install("--no-build").status == 0)
        #expect(staging.files(below: staging.machine) == first)
    }

    @Test func `uninstalling keeps data, purging takes it only when told twice`() async throws {
        let staging = try Staging()
        #expect(try await staging.install("--no-build").status == 0)
        let data = try staging.makeData()
        #expect(try await staging.install("--uninstall").status == 0)
        #expect(FileManager.default.fileExists(atPath: data + "/device.key"))

        let refused = try await staging.install("--uninstall", "--purge")
        #expect(refused.status == 1)
        #expect(refused.output.contains("--yes"))
        #expect(FileManager.default.fileExists(atPath: data + "/device.key"))

        #expect(try await staging.install("--uninstall", "--purge", "--yes").status == 0)
        #expect(!FileManager.default.fileExists(atPath: data))
    }

    @Test func `data that an agent holds is not purged`() async throws {
        let staging = try Staging()
        let data = try staging.makeData()
        let descriptor = open(data + "/agent.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let refused = try await staging.install("--uninstall", "--purge", "--yes")
        #expect(refused.status == 1)
        #expect(refused.output.contains("stop it"))
        #expect(FileManager.default.fileExists(atPath: data + "/device.key"))
    }

    @Test func `a program of the same name that is not ours is left alone`() async throws {
        let staging = try Staging()
        #expect(try await staging.install("--no-build").status == 0)
        let theirs = staging.machine + "/usr/local/bin/lanyard"
        try FileManager.default.removeItem(atPath: theirs)
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: theirs))
        #expect(try await staging.install("--uninstall").status == 0)
        #expect(staging.files(below: staging.machine) == ["usr/local/bin/lanyard"])
    }

    @Test(arguments: [["--purge"], ["--nonsense"], ["--uninstall", "extra"]])
    func `wrong arguments are a matter of usage and change nothing`(_ arguments: [String]) async throws {
        let staging = try Staging()
        let outcome = try await staging.run(
            [Staging.repository + "/deploy/install"] + arguments, ["DESTDIR": staging.machine])
        #expect(outcome.status == 2)
        #expect(staging.files(below: staging.machine) == [])
    }
}

extension Staging {
    /// `deploy/install --user` on a system that allows or refuses user namespaces to a person.
    fileprivate func installForUser(namespaces: Bool) async throws -> Outcome {
        let programs = folder + "/programs"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        let unshare = Data("#!/bin/sh\nexit \(namespaces ? 0 : 1)\n".utf8)
        #expect(
            FileManager.default.createFile(
                atPath: programs + "/unshare", contents: unshare, attributes: [.posixPermissions: 0o755]))
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try await run(
            [Self.repository + "/deploy/install", "--user", "--no-build", "--no-start"], ["PATH": "\(programs):\(path)"]
        )
    }

    /// Data as an agent of the staged machine would leave it.
    fileprivate func makeData() throws -> String {
        let data = machine + "/var/lib/lanyard"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try Data("key".utf8).write(to: URL(fileURLWithPath: data + "/device.key"))
        return data
    }
}
