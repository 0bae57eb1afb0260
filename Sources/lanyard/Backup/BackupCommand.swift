import ArgumentParser
import ControlAPI
import LanyardClient

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Save all that this device has in one file, while it runs.",
        usage: """
            lanyard backup FILE|- [--force] [OPTIONS]
                   lanyard backup --to FOLDER --every TIME [--keep N] [OPTIONS]
                   lanyard backup --now | --plan | --stop [OPTIONS]
            """,
        discussion: """
            The file holds the objects, events, history and attachments as they were at one moment, and this device's keys: \
            its holder can act as this device, so only you may read it; keep it as safe as this device.
            Writes go on meanwhile. The file appears when it is whole and on the disk. With - it goes to standard output.
            With --to and --every the agent makes them by itself, from now on and after every start: the first at once. Each is \
            read back and checked; only then old ones go, until --keep are left. lanyard status says when the last good one was, \
            and warns. The folder must be there, and the agent's user must be able to write in it. In the agent's configuration \
            the same is backup-to, backup-every and backup-keep.
            """)
    @Argument(help: "Where to; - for standard output.", completion: .file())
    var file: String?
    @Flag(name: .shortAndLong, help: "Replace a file that is there.")
    var force = false
    @OptionGroup var planned: PlannedBackups
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if file == nil, !planned.isAsked {
            throw ValidationError("Give a file for one backup, or --to FOLDER --every 1d for backups from now on.")
        }
        if planned.isAsked, file != nil || force {
            throw ValidationError("A file and --force are for one backup; --to, --now, --plan and --stop go without.")
        }
    }

    func run() async throws {
        guard let file else { return try await planned.run(global) }
        guard file == "-" else { return try await save(file) }
        guard !StandardOutput.isTerminal else {
            throw ControlError(
                .invalidArgument, "A backup is not written to a terminal.",
                hint: "Give a file, or send it on: lanyard backup - | ssh HOST 'cat > FILE'")
        }
        let made = try await make { bytes throws(ControlError) in try StandardOutput.write(raw: bytes) }
        note(made)
    }

    private func save(_ file: String) async throws {
        Interruption.explain(
            "It was stopped; there is no backup.", hint: "Make it again: lanyard backup FILE", asJSON: global.json)
        let place = OutputPlace(file, fileName: "lanyard.backup")
        let output = try FileOutput(directory: place.directory, name: place.name, replaces: force, mode: 0o600)
        let made = try await make { bytes throws(ControlError) in try output.write(bytes) }
        try output.finish()
        let answer = BackupAnswer(file: place.path, made)
        try global.print(answer) { _ in
            global.quiet ? "" : "\(shown(place.path))  \(ByteAmount.text(answer.bytes))\n"
        }
        note(made)
    }

    /// Makes the backup, and checks everything as a restore will.
    private func make(
        _ write: ([UInt8]) throws(ControlError) -> Void
    ) async throws -> BackupReader<BackupSHA256> {
        var reader = BackupReader<BackupSHA256>()
        var display: ProgressDisplay?
        defer { display?.end() }
        try await global.client().backup { bytes in
            reader.append(bytes)
            while try reader.next() != nil {}
            try write(bytes)
            if display == nil, let header = reader.header {
                display = ProgressDisplay(
                    "Backup", of: header.estimatedBytes, isOn: !global.quiet && !global.json)
            }
            display?.add(bytes.count)
        }
        do throws(ControlError) { try reader.finish() } catch {
            throw ControlError(
                .connectionLost, "The agent ended before all of the backup came; there is no backup.",
                hint: "See why with: lanyard logs. Then make it again.")
        }
        return reader
    }

    private func note(_ made: BackupReader<BackupSHA256>) {
        if !made.leftOut.isEmpty {
            global.note(
                "The bytes of \(Amounts.count(made.leftOut.count, "attachment")) could not be read and are not in it; where "
                    + "another device has them, they are fetched again.")
        }
        global.note("It holds this device's keys: keep it as safe as the device.")
    }
}

/// The saved backup, as JSON.
private struct BackupAnswer: Encodable {
    let file: String
    let bytes: UInt64
    let time: Timestamp?
    let device: BackupHeader.Device?
    /// Blobs in files of their own; small ones are in the database.
    let largeAttachments: Int
    let leftOut: [String]

    init(file: String, _ made: BackupReader<BackupSHA256>) {
        self.file = file
        bytes = made.byteCount
        time = made.header?.time
        device = made.header?.device
        largeAttachments = made.attachmentCount
        leftOut = made.leftOut
    }
}
