import Foundation
import Testing

/// The service manager's own opinion of the units. Needs `systemd-analyze` (Debian: systemd); fails without it.
@Suite struct UnitTests {
    @Test func `the machine's unit is valid where it was installed`() async throws {
        let staging = try Staging()
        try await staging.requireAnalyze()
        #expect(try await staging.install("--no-build").status == 0)
        // The units that every unit hangs on.
        let units = staging.machine + "/usr/lib/systemd"
        try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
        let system = try #require(["/usr/lib/systemd/system", "/lib/systemd/system"].first(where: isFolder))
        #expect(try await staging.run(["cp", "-a", system, units]).status == 0)
        try FileManager.default.createSymbolicLink(atPath: staging.machine + "/lib", withDestinationPath: "usr/lib")
        let verdict = try await staging.run([
            "systemd-analyze", "verify", "--man=no", "--root=\(staging.machine)",
            "/usr/local/lib/systemd/system/lanyard.service",
        ])
        #expect(verdict.status == 0 && verdict.output.isEmpty, "\(verdict.output)")
    }

    @Test func `a person's unit is valid where it was installed`() async throws {
        let staging = try Staging()
        try await staging.requireAnalyze()
        #expect(try await staging.install("--user", "--no-build", "--no-start").status == 0)
        let verdict = try await staging.run([
            "systemd-analyze", "--user", "verify", "--man=no",
            staging.home + "/.local/share/systemd/user/lanyard.service",
        ])
        #expect(verdict.status == 0 && verdict.output.isEmpty, "\(verdict.output)")
    }

    /// 1.0 of 10 is what remains for a program that speaks TCP to its neighbours, D-Bus and netlink; the unit says why.
    @Test func `the machine's unit gives away no more than the agent needs`() async throws {
        let staging = try Staging()
        try await staging.requireAnalyze()
        let unit = Staging.repository + "/deploy/systemd/system/lanyard.service"
        let verdict = try await staging.run([
            "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=10", unit,
        ])
        #expect(verdict.status == 0, "\(verdict.output)")
        let text = try String(contentsOfFile: unit, encoding: .utf8)
        let needed = "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK"
        for line in [needed, "RuntimeDirectory=lanyard", "RuntimeDirectoryPreserve=yes", "Type=notify"] {
            #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
        }
        #expect(text.contains("\nWatchdogSec="))
    }

    /// 1.7 of 10: beside the rest of the machine's unit, 0.4 for a service without `User=`, which counts as root here, and 0.3
    /// for restrictions that a service manager without privileges cannot enforce; the unit names them.
    @Test func `a person's unit gives away no more than an agent without privileges needs`() async throws {
        let staging = try Staging()
        try await staging.requireAnalyze()
        let verdict = try await staging.run([
            "systemd-analyze", "--user", "security", "--offline=true", "--no-pager", "--threshold=17",
            Self.personsUnit,
        ])
        #expect(verdict.status == 0, "\(verdict.output)")
        let settings = try Self.settings(Self.personsUnit)
        let needed = [
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "MemoryMax=1G", "TasksMax=256",
            "LimitCORE=0",
            "Type=notify", "RuntimeDirectoryPreserve=yes",
        ]
        #expect(needed.filter { !settings.contains($0) }.isEmpty)
        // A person's service manager accepts these and enforces nothing, or refuses to start the service.
        let ineffective = ["IPAddressDeny=", "DevicePolicy=", "ProtectProc=", "ProcSubset=", "RemoveIPC=", "User="]
        #expect(settings.filter { line in ineffective.contains { line.hasPrefix($0) } }.isEmpty)
    }

    /// Without namespaces one setting that needs them is enough to keep the service from starting.
    @Test func `the relaxation takes back every setting that needs a user namespace, and no other`() throws {
        let names = { (lines: [String]) in Set(lines.compactMap { $0.split(separator: "=").first.map(String.init) }) }
        let folder = Staging.repository + "/deploy/systemd/user"
        let unit = names(try Self.settings(Self.personsUnit))
        let relaxed = names(try Self.settings(folder + "/no-user-namespaces.conf"))
        let needy = unit.filter { name in
            ["Private", "Protect", "Bind", "TemporaryFileSystem", "CapabilityBoundingSet", "SecureBits"]
                .contains { name.hasPrefix($0) }
        }
        #expect(relaxed == needy)
    }

    @Test(arguments: [machinesUnit, personsUnit])
    func `an agent that crashes in its service shows no memory`(unit: String) async throws {
        let name = "Environment=SWIFT_BACKTRACE="
        let lines = try Self.settings(unit).filter { $0.hasPrefix(name) }
        #expect(lines.count == 1)
        let setting = try #require(lines.first?.dropFirst(name.count))
        #expect(try await !Staging().crash("\(setting),").contains("Registers:"))
    }

    @Test func `without the setting of its service an agent that crashes would show memory`() async throws {
        #expect(try await Staging().crash("").contains("Registers:"))
    }

    private static let machinesUnit = Staging.repository + "/deploy/systemd/system/lanyard.service"
    private static let personsUnit = Staging.repository + "/deploy/systemd/user/lanyard.service"

    /// The settings of a unit or drop-in, one a line.
    private static func settings(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { $0.contains("=") && !$0.hasPrefix("#") }
    }

    private func isFolder(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}

extension Staging {
    /// Has an agent crash, and returns what it wrote. Names of functions are left out: to find them takes ten seconds.
    fileprivate func crash(_ backtrace: String) async throws -> String {
        let script = """
            "$1" --data-dir "$2" --listen 127.0.0.1:0 --no-mdns >"$2.log" 2>&1 & agent=$!
            until_shown() { for i in $(seq 1200); do grep -q "$1" "$3" && return; kill -0 "$2" || return; sleep 0.05; done; }
            until_shown 'The agent runs' "$agent" "$2.log"
            kill -SEGV "$agent"
            until_shown 'Backtrace took' "$agent" "$2.log"
            kill -KILL "$agent"
            cat "$2.log"
            """
        let outcome = try await run(
            ["bash", "-c", script, "-", Self.repository + "/.build/release/lanyardd", folder + "/crashing"],
            ["SWIFT_BACKTRACE": backtrace + "symbolicate=off"])
        #expect(outcome.output.contains("Backtrace took"), "all of it was written: \(outcome.output)")
        return outcome.output
    }

    fileprivate func requireAnalyze() async throws {
        let found = try await run(["systemd-analyze", "--version"])
        try #require(found.status == 0, "systemd-analyze is missing: apt-get install systemd")
    }
}
