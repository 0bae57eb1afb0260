import ArgumentParser
import ControlAPI
import LanyardClient

struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring an attachment's bytes to this device, and write them to a file.",
        usage: "lanyard fetch ATTACHMENT [-o FILE|DIRECTORY/|-] [--force] [OPTIONS]",
        discussion: """
            The bytes come from the devices that have them, from several at once, and what came stays if it is stopped. Every \
            byte is checked. Without -o they are only brought here.
            Into a directory the file gets the attachment's name, made safe where it is not. A file appears when it is whole.
            """)
    @Argument(help: "The attachment: its id, or the first of it.", completion: Completions.attachments)
    var attachment: String
    @Option(name: .shortAndLong, help: ArgumentHelp("Where to; - for standard output.", valueName: "file"))
    var output: String?
    @Flag(name: .shortAndLong, help: "Replace a file that is there.")
    var force = false
    @OptionGroup var global: GlobalOptions

    private var showsProgress: Bool { !global.quiet && !global.json }

    func run() async throws {
        let client = try global.client()
        let found = try await client.attachment(attachment, space: global.space)
        Interruption.explain(
            "It was stopped; what came to this device stays, and no file was written.",
            hint: "Go on from there: lanyard fetch \(AttachmentText.shortID(found))", asJSON: global.json)
        // What cannot be written is refused before gigabytes come.
        let place = output.flatMap { $0 == "-" ? nil : OutputPlace($0, fileName: found.fileName) }
        let file = try place.map { place throws(ControlError) in
            try FileOutput(directory: place.directory, name: place.name, replaces: force)
        }
        let entry = try await bring(found, client)
        if let file, let place {
            try await read(entry, client) { bytes throws(ControlError) in try file.write(bytes) }
            try file.finish()
            try global.print(entry) { _ in
                global.quiet ? "" : "\(shown(place.path))  \(ByteAmount.text(entry.record.size))\n"
            }
        } else if output != nil {
            try await read(entry, client) { bytes throws(ControlError) in try StandardOutput.write(raw: bytes) }
        } else {
            try global.print(entry) { global.quiet ? "" : AttachmentText.line(entry, $0) + "\n" }
        }
    }

    private func bring(_ found: AttachmentEntry, _ client: LanyardClient) async throws -> AttachmentEntry {
        guard found.state != .present else { return found }
        let display = ProgressDisplay(found.record.name, of: found.record.size, isOn: showsProgress)
        defer { display.end() }
        return try await client.fetch(found.record.id, space: global.space) { display.tell($0) }
    }

    private func read(
        _ entry: AttachmentEntry, _ client: LanyardClient, _ write: ([UInt8]) throws(ControlError) -> Void
    ) async throws {
        let display = ProgressDisplay(
            "Writing \(entry.record.name)", of: entry.record.size,
            isOn: showsProgress && !(output == "-" && StandardOutput.isTerminal))
        defer { display.end() }
        try await client.readAttachment(entry.record.id, space: global.space) { bytes in
            try write(bytes)
            display.add(bytes.count)
        }
    }
}
