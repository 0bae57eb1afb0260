import ControlAPI
import Foundation
import LanyardClient
import SyncAgent
import Testing

@Suite struct SocketLocationTests {
    private func location(
        _ environment: [String: String], socket: String? = nil, dataDirectory: String? = nil,
        on machine: SocketLocation.Machine = machine()
    ) -> SocketLocation {
        SocketLocation(
            socket: socket, dataDirectory: dataDirectory, environment: { environment[$0] }, machine: machine)
    }

    /// A machine where an agent answers on some sockets, and some paths exist.
    private static func machine(
        isRoot: Bool = false, answering sockets: Set<String> = [], holding paths: Set<String> = []
    ) -> SocketLocation.Machine {
        SocketLocation.Machine(isRoot: isRoot, answers: { sockets.contains($0) }, exists: { paths.contains($0) })
    }

    @Test func `what was said outweighs what is set, and a flag the environment`() {
        let environment = ["LANYARD_SOCKET": "/e/x.sock", "LANYARD_DATA_DIR": "/e", "HOME": "/h"]
        #expect(location(environment, socket: "/f/control.sock").socketPath == "/f/control.sock")
        #expect(location(environment).socketPath == "/e/x.sock")
        #expect(location(["LANYARD_DATA_DIR": "/e"], dataDirectory: "/f").socketPath == "/f/control.sock")
        #expect(location(["LANYARD_DATA_DIR": "/e"]).socketPath == "/e/control.sock")
    }

    private static let (runtime, own) = ("/run/user/7/lanyard/control.sock", "/h/.local/share/lanyard/control.sock")
    private static let service = "/run/lanyard/control.sock"
    private static let (key, serviceData) = ("/h/.local/share/lanyard/identity.pem", "/var/lib/lanyard")

    @Test(arguments: [
        ([runtime, own, service], runtime, "/h/.local/share/lanyard"),
        ([own, service], own, "/h/.local/share/lanyard"),
        ([service], service, serviceData),
    ])
    func `otherwise the first agent that answers is meant, and its data with it`(
        answering: [String], socket: String, directory: String
    ) {
        let place = location(
            ["HOME": "/h", "XDG_RUNTIME_DIR": "/run/user/7"],
            on: Self.machine(answering: Set(answering), holding: [Self.key, Self.serviceData]))
        #expect(place.socketPath == socket)
        #expect(place.dataDirectory == directory)
        #expect(place.isFound)
    }

    @Test(arguments: [
        (false, [], false), (false, [key], false), (false, [serviceData], true), (true, [serviceData], true),
        (false, [key, serviceData], false), (true, [key, serviceData], true),
        (false, ["/usr/local/lib/systemd/system/lanyard.service"], true),
    ])
    func `where none answers the service is meant, unless a user has a device of their own`(
        isRoot: Bool, existing: [String], isService: Bool
    ) {
        let place = location(["HOME": "/h"], on: Self.machine(isRoot: isRoot, holding: Set(existing)))
        #expect(place.socketPath == (isService ? Self.service : Self.own))
        #expect(place.dataDirectory == (isService ? Self.serviceData : "/h/.local/share/lanyard"))
        #expect(place.startCommand.hasSuffix(isService ? "systemctl start lanyard" : "lanyardd"))
        #expect(place.notRunning.message.contains(place.dataDirectory))
        #expect(throws: ControlError.self) { try LanyardClient.find(place) }
    }

    @Test func `the service's data directory means the service, unless an agent has its socket there`() {
        let named = location(["HOME": "/h"], dataDirectory: Self.serviceData)
        #expect(named.socketPath == Self.service)
        #expect(named.startCommand == "systemctl start lanyard")
        let socket = "\(Self.serviceData)/control.sock"
        #expect(
            location([:], dataDirectory: Self.serviceData, on: Self.machine(answering: [socket])).socketPath == socket)
    }

    @Test func `a service of one's login is started as one`() {
        let unit = "/h/.local/share/systemd/user/lanyard.service"
        #expect(
            location(["HOME": "/h"], on: Self.machine(holding: [unit])).startCommand == "systemctl --user start lanyard"
        )
        #expect(location(["XDG_DATA_HOME": "/d", "HOME": "/h"]).dataDirectory == "/d/lanyard")
    }

    @Test func `without HOME the user database says where a user's data lie`() {
        for entry in UserRecord.all {
            #expect(SocketLocation.homeDirectory(of: entry.number) == entry.home)
        }
        #expect(
            location([:]).dataDirectory == SocketLocation.homeDirectory(of: geteuid()) + "/.local/share/lanyard")
        #expect(SocketLocation.homeDirectory(of: 4_000_000_000) == "/")
    }

    @Test func `an agent without HOME keeps its data where the command looks for them`() throws {
        for environment in [[:], ["HOME": ""]] {
            let configuration = try AgentConfiguration(layers: [], environment: environment, hostName: "h")
            #expect(configuration.dataDirectory == location([:]).dataDirectory)
        }
    }

    @Test func `the machine's service is started by systemd`() {
        let service = location(["HOME": "/h"], socket: "/run/lanyard/control.sock")
        #expect(service.startCommand == "systemctl start lanyard")
        #expect(service.notRunning.hint == "Start it with: systemctl start lanyard")
        #expect(service.dataDirectory == "/var/lib/lanyard")
        let own = location([:], socket: "/run/lanyard/control.sock", dataDirectory: "/d")
        #expect(own.startCommand.hasSuffix("--data-dir /d --socket /run/lanyard/control.sock"))
    }

    @Test func `a socket that was named outweighs a directory, whichever way`() {
        #expect(location(["LANYARD_SOCKET": "/e/x.sock"], dataDirectory: "/f").socketPath == "/e/x.sock")
    }

    @Test func `the start command can be pasted into a shell`() {
        #expect(
            location([:], dataDirectory: "/tmp/it's here").startCommand.hasSuffix(#"--data-dir '/tmp/it'\''s here'"#))
        #expect(location([:], socket: "/a/control.sock").agentArguments == ["--data-dir", "/a"])
        #expect(
            location(["HOME": "/h"], socket: "/a/x.sock").agentArguments == [
                "--data-dir", "/h/.local/share/lanyard", "--socket", "/a/x.sock",
            ])
    }
}

/// A line of /etc/passwd, read as the text it is.
private struct UserRecord {
    let number: UInt32
    let home: String

    static var all: [UserRecord] {
        let text = (try? String(contentsOfFile: "/etc/passwd", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 7, let number = UInt32(fields[2]), !fields[5].isEmpty else { return nil }
            return UserRecord(number: number, home: String(fields[5]))
        }
    }
}
