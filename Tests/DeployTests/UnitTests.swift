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

    /// A person's service manager drops no capabilities, mounts nothing and filters no addresses without user namespaces; what
    /// it can enforce everywhere is on.
    @Test func `a person's unit has what a service manager without privileges enforces`() async throws {
        let unit = Staging.repository + "/deploy/systemd/user/lanyard.service"
        let lines = Set(try String(contentsOfFile: unit, encoding: .utf8).split(separator: "\n").map(String.init))
        let needed = [
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "MemoryMax=1G", "TasksMax=256",
            "LimitCORE=0",
            "UMask=0077", "KeyringMode=private", "NoNewPrivileges=yes", "RestrictNamespaces=yes",
            "RestrictRealtime=yes",
            "RestrictSUIDSGID=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes",
            "SystemCallArchitectures=native",
            "SystemCallFilter=@system-service", "SystemCallFilter=~@privileged @resources",
        ]
        #expect(needed.filter { !lines.contains($0) }.isEmpty)
        // These need privileges or namespaces: the service would not start everywhere, or they would only look safe.
        let refused = ["PrivateUsers=", "CapabilityBoundingSet=", "ProtectSystem=", "IPAddressDeny="]
        #expect(lines.filter { line in refused.contains { line.hasPrefix($0) } }.isEmpty)
    }

    private func isFolder(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}

extension Staging {
    fileprivate func requireAnalyze() async throws {
        let found = try await run(["systemd-analyze", "--version"])
        try #require(found.status == 0, "systemd-analyze is missing: apt-get install systemd")
    }
}
