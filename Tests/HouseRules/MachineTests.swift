import Testing

/// Holds the core to its rooms: a machine's state is its own, and `AgentCore` has little.
@Suite struct MachineTests {
    /// The stored properties of a type, by the lines of the file that declares it: name and type, and whether others may write.
    private struct Stored {
        let name: String
        let type: String
        let isOpen: Bool
    }

    private func stored(_ type: String, in file: Repository.File) -> [Stored] {
        guard let start = file.lines.firstIndex(where: { $0.contains("struct \(type)") && $0.contains("{") }) else {
            return []
        }
        let body = file.lines[(start + 1)...].prefix { $0 != "}" }
        let declaration =
            /^    ((?:private |private\(set\) |package |package private\(set\) )?)(?:var|let) (\w+)(?:: ([\w\[\]?.:<> ]+))?(?: = (\w+))?/
        return body.compactMap { line in
            guard let match = line.firstMatch(of: declaration), !line.hasSuffix("{"), !line.hasSuffix("}") else {
                return nil
            }
            let type = match.3 ?? match.4 ?? ""
            let mayWrite = line.contains("    var ") && !match.1.contains("private")
            return Stored(
                name: String(match.2), type: String(type).trimmingPrefix("[").description, isOpen: mayWrite)
        }
    }

    private func source(declaring type: String, of files: [Repository.File]) -> Repository.File? {
        files.first { file in file.lines.contains { $0.hasPrefix("struct \(type):") } }
    }

    @Test func `the machines of a space keep their state to themselves`() throws {
        let files = try Repository().swiftFiles("Sources/SyncCore")
        let space = try #require(source(declaring: "SpaceMachine", of: files))
        let machines = stored("SpaceMachine", in: space).map(\.type).filter { type in
            source(declaring: type, of: files) != nil
        }
        #expect(machines.count >= 8, "found only \(machines)")
        for machine in machines {
            let file = try #require(source(declaring: machine, of: files))
            let open = stored(machine, in: file).filter(\.isOpen).map(\.name)
            #expect(open.isEmpty, "\(file.path): others may write \(open.joined(separator: ", ")) of \(machine)")
        }
    }

    @Test func `the core itself has at most a dozen stored properties`() throws {
        let files = try Repository().swiftFiles("Sources/SyncCore")
        let core = try #require(files.first { $0.path.hasSuffix("/AgentCore.swift") })
        let properties = stored("AgentCore", in: core)
        #expect((1...12).contains(properties.count), "\(properties.map(\.name))")
    }

    @Test func `only the network reads its sessions and addresses`() throws {
        let faults = try Repository().swiftFiles("Sources/SyncCore").filter { !$0.path.contains("/Network/") }
            .flatMap { file in
                file.faults { line in
                    line.firstMatch(of: /network\.(sessions|book|twins|random|bulkPeers)\b/).map { "\($0.0)" }
                }
            }
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }
}
