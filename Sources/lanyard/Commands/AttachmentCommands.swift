import ArgumentParser
import ControlAPI
import LanyardClient

struct Attachments: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show attachments, newest first: of an object, or all.",
        discussion:
            "STATE says what of the bytes is on this device. An attachment is named by its id or the first of it.")
    @Argument(help: ArgumentHelp("Only of this object.", valueName: "collection/id"), completion: Completions.objects)
    var object: String?
    @Option(name: [.long, .customShort("n")], help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit: Int?
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let limit, !ControlLimits.pageEntries.contains(limit) {
            throw ValidationError("The limit is 1 to \(ControlLimits.pageEntries.upperBound).")
        }
    }

    func run() async throws {
        let owner = try object.map { text throws(ControlError) in try ObjectName(parsing: text) }
        let client = try global.client()
        if global.json {
            var array = JSONArrayOutput()
            try await client.listAttachments(of: owner, limit: limit, space: global.space) {
                try array.add(try listing.rows($0))
            }
            try array.end()
            return
        }
        var all: [AttachmentEntry] = []
        try await client.listAttachments(of: owner, limit: limit, space: global.space) { all += $0 }
        let rows = try listing.rows(all)
        if all.isEmpty {
            global.note("No attachments.")
        } else {
            try StandardOutput.write(try AttachmentText.table(rows, global.style, listing.table))
        }
    }
}

struct Detach: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take an attachment off its object, on every device and for good.",
        discussion: """
            Its bytes stay for a day where they are, if no other attachment needs them; attached again meanwhile, nothing is \
            sent anew.
            """)
    @Argument(help: "The attachment: its id, or the first of it.", completion: Completions.attachments)
    var attachment: String
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        let found = try await client.attachment(attachment, space: global.space)
        try confirmation.ask("Detach \(AttachmentText.name(found)) from \(shown(found.owner)) on every device?")
        // By its whole id: what was asked about is what goes.
        let detached = try await client.detach(found.record.id, space: global.space)
        try global.print(DetachedResponse(detached: detached)) { _ in
            if global.quiet { return "" }
            let words = detached ? "detached from" : "was detached already from"
            return "\(AttachmentText.name(found)) \(words) \(shown(found.owner)).\n"
        }
    }
}

struct Pin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch an attachment and keep it on this device, whatever the policy of its space says.")
    @Argument(help: "The attachment: its id, or the first of it.", completion: Completions.attachments)
    var attachment: String
    @OptionGroup var global: GlobalOptions

    func run() async throws { try await global.pin(attachment, true) }
}

struct Unpin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Treat an attachment as the policy of its space says; nothing is removed.")
    @Argument(help: "The attachment: its id, or the first of it.", completion: Completions.attachments)
    var attachment: String
    @OptionGroup var global: GlobalOptions

    func run() async throws { try await global.pin(attachment, false) }
}

extension GlobalOptions {
    fileprivate func pin(_ id: String, _ isPinned: Bool) async throws {
        let entry = try await client().setPinned(isPinned, id, space: space)
        try print(entry) { quiet ? "" : AttachmentText.line(entry, $0) + "\n" }
    }
}
