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

    /// The lines of a function of a type that takes a connection: from its declaration to its end; empty if it has none.
    private func lines(of function: String, of type: String, _ files: [Repository.File]) -> [Substring] {
        for file in files where file.mainType == type {
            guard let start = file.lines.firstIndex(where: { $0.contains("func \(function)(_ id: ConnectionID") })
            else {
                continue
            }
            let isOneLine = file.lines[start].hasSuffix("}")
            return isOneLine ? [file.lines[start]] : Array(file.lines[start...].prefix { $0 != "    }" })
        }
        return []
    }

    @Test func `what a machine keeps for a session is opened and closed with the session`() throws {
        let files = try Repository().swiftFiles("Sources/SyncCore")
        let types = Set(files.map(\.mainType)).sorted()
        let keepers = types.filter { !lines(of: "open", of: $0, files).isEmpty }
        var count = 0
        for owner in types {
            guard let file = files.first(where: { $0.name == owner + ".swift" }) else { continue }
            let isInside = keepers.contains(owner)
            for property in stored(owner, in: file) where keepers.contains(property.type) {
                count += 1
                for (function, call) in [
                    (isInside ? "open" : "handleOpened", "open"), (isInside ? "close" : "handleClosed", "close"),
                ] {
                    let isCalled = lines(of: function, of: owner, files).contains {
                        $0.contains("\(property.name).\(call)(id)")
                    }
                    #expect(isCalled, "\(owner).\(function) does not call \(property.name).\(call)(id)")
                }
            }
        }
        #expect(count >= 16, "found only \(count)")
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

extension Repository.File {
    /// The type that the file is about: `SpaceMachine` of `SpaceMachine+Peers.swift`.
    fileprivate var mainType: String { String(name.prefix { $0 != "." && $0 != "+" }) }
}
