import ArgumentParser
import ControlAPI
import LanyardClient

struct Snapshot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep the state that an application computed from a stream, and begin with it elsewhere.",
        discussion: """
            What an application does when it starts, in this order; each step says with an error that it is the next one's turn:
              1. Its own state is there, and its consumer (lanyard consumers): go on with lanyard events STREAM --consumer NAME.
              2. lanyard snapshot restore: the best state that some device saved for its schema version.
              3. Bytes that no connected device has (nobody_has): start the device that the error names, or take another snapshot.
              4. No snapshot of its version (unknown_snapshot, snapshot_schema): begin from nothing, with all events.
            """,
        subcommands: [Save.self, List.self, Restore.self])

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Save a state, for all devices.",
            usage: "lanyard snapshot save STREAM --consumer NAME --schema N FILE|- [--keep-most-recent N] [OPTIONS]",
            discussion: """
                The state must hold exactly the events that the consumer has acknowledged when the command starts; with --at, \
                those up to a position that was acknowledged.
                """)
        @Argument(
            help: ArgumentHelp("The stream whose events the state holds.", valueName: "stream"),
            completion: Completions.streams)
        var stream: String
        @Argument(help: ArgumentHelp("The state, or - for standard input.", valueName: "file"), completion: .file())
        var file: String
        @Option(
            help: ArgumentHelp("Whose acknowledged events the state holds.", valueName: "name"),
            completion: Completions.consumers)
        var consumer: String
        @Option(help: ArgumentHelp("The version of the state's form, counted by the application.", valueName: "n"))
        var schema: Int64
        @Option(help: ArgumentHelp("The state holds what was acknowledged up to here.", valueName: "position"))
        var at: String?
        @Option(
            help: ArgumentHelp(
                "Delete older ones of this stream and schema version, unless they hold events that no kept one holds.",
                valueName: "n"))
        var keepMostRecent: Int?
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            try SchemaVersion.check(schema)
            if let keepMostRecent, !ControlLimits.snapshotsKept.contains(keepMostRecent) {
                throw ValidationError("Keep 1 snapshot at least.")
            }
        }

        func run() async throws {
            try NameRule.check(stream, is: .stream)
            try NameRule.check(consumer, is: .consumer)
            let client = try global.client()
            Interruption.explain("It was stopped; nothing was saved.", hint: "Save it again.", asJSON: global.json)
            var request = SnapshotSaveRequest(
                of: stream, consumer: consumer, schema: schema, space: global.space,
                position: try at.map { text throws(ControlError) in try EventPosition(parsing: text) },
                keepMostRecent: keepMostRecent)
            let saved = try await save(&request, client)
            try global.print(saved) { _ in
                if global.quiet { return "" }
                let id = shown(String(saved.snapshot.id.prefix(8)))
                let gone = saved.removed.isEmpty ? "" : " \(Amounts.count(saved.removed.count, "older one")) deleted."
                return
                    "\(id)  \(shown(stream)), schema version \(schema), \(ByteAmount.text(saved.snapshot.size)).\(gone)\n"
            }
        }

        private func save(
            _ request: inout SnapshotSaveRequest, _ client: LanyardClient
        ) async throws -> SavedSnapshot {
            let isOn = !global.quiet && !global.json
            if file == "-" {
                let display = ProgressDisplay("standard input", of: nil, isOn: isOn)
                defer { display.end() }
                let input = StandardInput().map { bytes in
                    display.add(bytes.count)
                    return bytes
                }
                return try await client.saveSnapshot(input, request)
            }
            let input = try FileInput(path: RawArgument.bytes(of: file, number: 0))
            request.size = input.size
            let display = ProgressDisplay(input.name, of: input.size, isOn: isOn)
            defer { display.end() }
            return try await client.saveSnapshot(
                input.map { bytes in
                    display.add(bytes.count)
                    return bytes
                }, request)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show snapshots, newest first: of a stream, or all.", aliases: ["ls"])
        @Argument(help: "Only of this stream.", completion: Completions.streams)
        var stream: String?
        @Option(help: ArgumentHelp("Only of this schema version.", valueName: "n"))
        var schema: Int64?
        @OptionGroup var listing: ListingOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws { if let schema { try SchemaVersion.check(schema) } }

        func run() async throws {
            if let stream { try NameRule.check(stream, is: .stream) }
            let client = try global.client()
            let all = try await client.snapshots(of: stream, schema: schema, space: global.space)
            let snapshots = try listing.rows(all)
            let names = await DeviceNames(client, space: global.space)
            try global.print(snapshots) { try snapshots.isEmpty ? "" : table(snapshots, names, $0) }
            if all.isEmpty { global.note("No snapshots yet. Save one: lanyard snapshot save --help") }
        }

        private func table(
            _ snapshots: [SnapshotEntry], _ names: DeviceNames, _ style: Style
        ) throws(ControlError) -> String {
            var table = Table(
                "ID", "STREAM", "SCHEMA", "CONSUMER", "SAVED", "DEVICE", "SIZE", "STATE",
                leastImportant: ["CONSUMER", "SIZE", "DEVICE", "SAVED"])
            for snapshot in snapshots {
                let isGood = snapshot.problem == nil && snapshot.state == .present
                table.add(
                    Table.Cell(String(snapshot.id.prefix(8))), Table.Cell(snapshot.stream),
                    Table.Cell(String(snapshot.schema)), Table.Cell(snapshot.consumer),
                    Table.Cell(TimeText.local.age(snapshot.time)), Table.Cell(names[snapshot.device]),
                    Table.Cell(ByteAmount.text(snapshot.size)),
                    Table.Cell(snapshot.problem ?? snapshot.state.rawValue) {
                        isGood ? style.good($0) : style.careful($0)
                    })
            }
            return try table.text(style, listing.table)
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin a consumer with a saved state: afterwards it is given only the events outside of it.",
            usage: """
                lanyard snapshot restore STREAM --consumer NAME --schema N -o FILE|DIRECTORY/|- [--snapshot ID] [--force] \
                [OPTIONS]
                """,
            discussion: """
                Takes the snapshot of this schema version that holds most, else the newest; never one of another version. If \
                it is stopped, or the state could not be written, the consumer reads nothing until a restore succeeds or \
                lanyard consumers set NAME 0 begins from nothing. With -o - the consumer goes on once all was written: where \
                what reads it fails after that, restore again.
                What the next steps are when there is none: lanyard snapshot --help.
                """)
        @Argument(help: ArgumentHelp("The stream.", valueName: "stream"), completion: Completions.streams)
        var stream: String
        @Option(
            help: ArgumentHelp("The consumer that is to begin with it; another state of it ends.", valueName: "name"),
            completion: Completions.consumers)
        var consumer: String
        @Option(help: ArgumentHelp("The application's schema version.", valueName: "n"))
        var schema: Int64
        @Option(
            help: ArgumentHelp("This one, by its id or the first of it.", valueName: "id"),
            completion: Completions.snapshots)
        var snapshot: String?
        @Option(name: .shortAndLong, help: ArgumentHelp("Where to; - for standard output.", valueName: "file"))
        var output: String
        @Flag(name: .shortAndLong, help: "Replace a file that is there.")
        var force = false
        @OptionGroup var global: GlobalOptions

        func validate() throws { try SchemaVersion.check(schema) }

        func run() async throws {
            try NameRule.check(stream, is: .stream)
            try NameRule.check(consumer, is: .consumer)
            let client = try global.client()
            Interruption.explain(
                "It was stopped; no file was written.",
                hint: "Restore again: until then the consumer may be put aside.", asJSON: global.json)
            // What cannot be written is refused before anything is put aside.
            let place =
                output == "-"
                ? nil
                : OutputPlace(output, fileName: "\(stream)-\(schema)")
            let file = try place.map { place throws(ControlError) in
                try FileOutput(directory: place.directory, name: place.name, replaces: force)
            }
            let isOn = !global.quiet && !global.json
            let display = ProgressDisplay(
                "snapshot", of: nil, isOn: isOn && !(file == nil && StandardOutput.isTerminal))
            let restored: RestoredSnapshot
            do {
                defer { display.end() }
                restored = try await client.restoreSnapshot(
                    RestoreRequest(stream: stream, schema: schema, snapshot: snapshot), consumer: consumer,
                    space: global.space, progress: { display.tell($0) },
                    { bytes in
                        if let file { try file.write(bytes) } else { try StandardOutput.write(raw: bytes) }
                    }, keep: { try file?.finish() })
            }
            for id in restored.skipped {
                global.note("No connected device has the bytes of the better snapshot \(shown(String(id.prefix(8)))).")
            }
            guard let place else { return }
            try global.print(restored) { _ in
                global.quiet ? "" : "\(shown(place.path))  \(ByteAmount.text(restored.snapshot.size))\n"
            }
            global.note("Go on with: lanyard events \(shown(stream)) --consumer \(shown(consumer))")
        }
    }
}

private enum SchemaVersion {
    static func check(_ version: Int64) throws(ValidationError) {
        guard ControlLimits.snapshotSchema.contains(version) else {
            throw ValidationError("A schema version is a whole number from 0.")
        }
    }
}
