import ArgumentParser
import ControlAPI
import LanyardClient

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the data of a space to one file that any program can read.",
        usage: "lanyard export FILE|- [--force] [--space NAME] [OPTIONS]",
        discussion: """
            A tar archive: objects.jsonl, events.jsonl, schemas.jsonl, streams.jsonl and attachments.jsonl, one JSON value a line, \
            the attached files in attachments/, and SHA256SUMS. Values are as they are shown; no keys, no history, no deletions.
            Attachments that are not here are fetched first; what no device has is left out, and said. What others write meanwhile \
            may be in it or not. The file appears when it is whole. lanyard import reads it, on this device or another.
            """)
    @Argument(help: "Where to; - for standard output.", completion: .file())
    var file: String
    @Flag(name: .shortAndLong, help: "Replace a file that is there.")
    var force = false
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        Interruption.explain(
            "It was stopped; there is no export.", hint: "Make it again: lanyard export FILE", asJSON: global.json)
        guard file == "-" else { return try await save() }
        guard !StandardOutput.isTerminal else {
            throw ControlError(
                .invalidArgument, "An export is not written to a terminal.",
                hint: "Give a file, or send it on: lanyard export - | tar -t")
        }
        let archive = ExportArchive(spoolDirectory: TemporaryFile.directory) { bytes throws(ControlError) in
            try StandardOutput.write(raw: bytes)
        }
        note(try await Exporting(global.client(), archive, global).run())
    }

    private func save() async throws {
        let place = OutputPlace(file, fileName: "lanyard-export.tar")
        let output = try FileOutput(directory: place.directory, name: place.name, replaces: force, mode: 0o600)
        let archive = ExportArchive(spoolDirectory: place.directory) { bytes throws(ControlError) in
            try output.write(bytes)
        }
        let summary = try await Exporting(global.client(), archive, global).run()
        try output.finish()
        summary.file = place.path
        try global.print(summary) { _ in global.quiet ? "" : summary.text }
        note(summary)
    }

    private func note(_ summary: ExportSummary) {
        if !summary.leftOut.isEmpty {
            global.note(
                "No device that answers has the bytes of \(Amounts.count(summary.leftOut.count, "attachment")) "
                    + "(\(Amounts.some(summary.leftOut))); they are not in it.")
        }
        if !summary.undecided.isEmpty {
            global.note(
                "\(Amounts.count(summary.undecided.count, "object")) that were deleted on one device and edited on another "
                    + "are not in it (\(Amounts.some(summary.undecided))). To decide: lanyard conflicts list")
        }
    }
}

/// The result of an export, as JSON.
final class ExportSummary: Encodable {
    var file: String?
    var bytes: UInt64 = 0
    var objects = 0
    var events = 0
    var attachments = 0
    /// The names of attachments whose bytes no device had.
    var leftOut: [String] = []
    /// The objects that are hidden until a person decides whether they are deleted.
    var undecided: [String] = []

    var text: String {
        "\(shown(file ?? "-"))  \(ByteAmount.text(bytes)): \(Amounts.count(objects, "object")), "
            + "\(Amounts.count(events, "event")), \(Amounts.count(attachments, "attachment"))\n"
    }
}
