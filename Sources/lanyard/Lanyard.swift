import ArgumentParser
import ControlAPI
import Glibc

/// The `lanyard` command: one word per question or action, each a thin layer over `LanyardClient`.
struct Lanyard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanyard",
        abstract: "Keeps the devices on one local network in step, with no server.",
        discussion: "Commands talk to the agent (lanyardd) of this device. Start with: lanyard status",
        version: "lanyard \(LanyardVersion.current)",
        groupedSubcommands: [
            CommandGroup(
                name: "This device",
                subcommands: [
                    Status.self, DeviceIdentifier.self, Top.self, Peers.self, Ping.self, Why.self, Wait.self,
                    Spaces.self, Compact.self, Doctor.self, Logs.self, Reload.self, Dashboard.self, Version.self,
                    Completion.self,
                ]),
            CommandGroup(
                name: "Devices",
                subcommands: [Pair.self, Invite.self, Join.self, Devices.self, Recovery.self]),
            CommandGroup(
                name: "Objects",
                subcommands: [
                    Put.self, Get.self, List.self, Edit.self, Delete.self, Deleted.self, History.self, Undo.self,
                    Watch.self, Conflicts.self, Schema.self,
                ]),
            CommandGroup(
                name: "Attachments",
                subcommands: [Attach.self, Attachments.self, Fetch.self, Detach.self, Pin.self, Unpin.self]),
            CommandGroup(
                name: "Events",
                subcommands: [Emit.self, Events.self, Run.self, Streams.self, Consumers.self, Snapshot.self]),
            CommandGroup(
                name: "Keeping", subcommands: [Backup.self, Restore.self, RestorePoint.self, Export.self, Import.self]),
        ])
}

@main
enum Program {
    static func main() async {
        // Writing into a closed pipe is reported by the write itself, and ends the command quietly.
        signal(SIGPIPE, SIG_IGN)
        let arguments = LeadingOptions.hoist(Array(CommandLine.arguments.dropFirst()))
        // What stands behind -- is for another command.
        let asJSON = arguments.prefix { $0 != "--" }.contains("--json")
        if let fault = CommandWords.fault(in: arguments) { Failure.end(fault, asJSON: asJSON) }
        do {
            var command = try await Lanyard.asyncParseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ControlError {
            Failure.end(error, asJSON: asJSON)
        } catch {
            end(error, arguments, asJSON: asJSON)
        }
    }

    /// Ends the program for an error of the argument parser: help and version (printed, 0), and wrong command lines, which exit
    /// with 2.
    private static func end(_ error: any Error, _ arguments: [String], asJSON: Bool) -> Never {
        if Lanyard.exitCode(for: error) == .success {
            try? StandardOutput.write(Lanyard.fullMessage(for: error) + "\n")
            exit(ExitCode.ok)
        }
        let usage =
            arguments.first == "undelete"
            ? noUndelete
            : ControlError(
                .invalidArgument, sentence(Lanyard.message(for: error)),
                hint: "See: \(CommandWords.helpCommand(arguments))")
        Failure.end(usage, asJSON: asJSON)
    }

    /// People look for it; a deletion that others have seen cannot be taken back (Decisions/04).
    private static let noUndelete = ControlError(
        .invalidArgument, "There is no undelete: what was deleted stays deleted, on every device.",
        hint:
            "Create a new object instead: lanyard put COLLECTION JSON. What the old one held: lanyard history COLLECTION/ID"
    )

    private static func sentence(_ message: String) -> String {
        let lines = message.split(separator: "\n")
        var line = lines.first.map(String.init) ?? "The command line is wrong."
        if line.hasSuffix(":") {
            // The parser lists more than two values on lines of their own.
            let values = lines.dropFirst().prefix { $0.hasPrefix("  - ") }
            line += " " + values.map { $0.dropFirst(4) }.joined(separator: ", ")
        }
        return line.last.map { ".?!".contains($0) } ?? false ? line : line + "."
    }

    static func exit(_ code: ControlAPI.ExitCode) -> Never { Glibc.exit(code.rawValue) }
}

/// Errors on standard error: one line for people, one object for programs.
enum Failure {
    static func end(_ error: ControlError, asJSON: Bool) -> Never {
        say(error, asJSON: asJSON)
        Program.exit(error.code.exitCode)
    }

    static func say(_ error: ControlError, asJSON: Bool) {
        if asJSON {
            StandardError.write(json: ErrorResponse(error).bytes + [0x0A])
        } else {
            StandardError.write(Prose.wrapped("lanyard: \(line(error))", width: StandardError.width) + "\n")
        }
    }

    private static func line(_ error: ControlError) -> String {
        let text = error.hint.isEmpty ? error.message : "\(error.message) \(error.hint)"
        return shown(text.split(whereSeparator: \.isNewline).joined(separator: " "))
    }
}
