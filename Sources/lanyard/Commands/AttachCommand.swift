import ArgumentParser
import ControlAPI
import LanyardClient

struct Attach: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Attach files to an object.",
        usage: """
            lanyard attach COLLECTION/ID FILE|-… [--type MEDIA] [--name NAME] [OPTIONS]
            lanyard attach COLLECTION/ID --from-hash HASH|ATTACHMENT [--type MEDIA] [--name NAME] [OPTIONS]
            """,
        discussion: """
            Returns when the file is durable on this device; the others get it by themselves. Equal bytes are kept and sent \
            once, however often they are attached. An attachment never changes: to change it, attach the new file and \
            detach the old one.
            With - standard input is attached, to its end, under the name that --name says. Of several files each is an \
            attachment of its own; it stops at the first that cannot be attached, those before it stay.
            With --from-hash the bytes are those of another attachment, or of one that was detached and is not cleaned up yet.
            """)
    @Argument(help: ArgumentHelp("The object.", valueName: "collection/id"), completion: Completions.objects)
    var object: String
    @Argument(help: ArgumentHelp("What to attach, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String] = []
    @Option(
        help: ArgumentHelp("Bytes that this device has: their hash, or an attachment.", valueName: "hash"),
        completion: Completions.attachments)
    var fromHash: String?
    @Option(help: ArgumentHelp("What kind it is, if its content does not say; like image/png.", valueName: "media"))
    var type: String?
    @Option(help: ArgumentHelp("What it is called, if not as the file.", valueName: "name"))
    var name: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard files.isEmpty != (fromHash == nil) else {
            throw ValidationError("Give files, or --from-hash.")
        }
        if fromHash != nil { return }
        guard files.count == 1 || name == nil else { throw ValidationError("--name is for one file.") }
        guard files.count == 1 || !files.contains("-") else {
            throw ValidationError("Standard input is attached alone.")
        }
    }

    func run() async throws {
        let owner = try ObjectName(parsing: object)
        let client = try global.client()
        if let fromHash {
            let request = AttachRequest(to: owner, space: global.space, name: name ?? "", mediaType: type)
            let attached = try await client.attach(from: fromHash, request)
            return try global.print(attached) { global.quiet ? "" : AttachmentText.line(attached, $0) + "\n" }
        }
        Interruption.explain(
            "It was stopped; this file was not attached.", hint: "Attach it again.", asJSON: global.json)
        var counts: [String: Int] = [:]
        for file in files {
            // Two names that are no UTF-8 may read alike.
            let number = counts[file, default: 0]
            counts[file] = number + 1
            let attached = try await attach(file, number, to: owner, client)
            try global.print(attached) { global.quiet ? "" : AttachmentText.line(attached, $0) + "\n" }
        }
    }

    private func attach(
        _ file: String, _ number: Int, to owner: ObjectName, _ client: LanyardClient
    ) async throws -> AttachmentEntry {
        let showsProgress = !global.quiet && !global.json
        var request = AttachRequest(to: owner, space: global.space, name: name ?? "", mediaType: type)
        if file == "-" {
            let display = ProgressDisplay(name ?? "standard input", of: nil, isOn: showsProgress)
            defer { display.end() }
            let input = StandardInput().map { bytes in
                display.add(bytes.count)
                return bytes
            }
            return try await client.attach(input, request)
        }
        let input = try FileInput(path: RawArgument.bytes(of: file, number: number))
        request.name = name ?? input.name
        request.size = input.size
        let display = ProgressDisplay(request.name, of: input.size, isOn: showsProgress)
        defer { display.end() }
        return try await client.attach(
            input.map { bytes in
                display.add(bytes.count)
                return bytes
            }, request)
    }
}
