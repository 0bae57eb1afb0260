import ArgumentParser
import ControlAPI
import LanyardClient

struct Spaces: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what this device keeps of each space; change it.", subcommands: [Set.self])
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let spaces = try listing.rows(try await global.client().spaces())
        try global.print(spaces) { try Self.text(spaces, $0, listing.table) }
    }

    static func text(
        _ spaces: [SpaceEntry], _ style: Style, _ format: TableFormat = .usual
    ) throws(ControlError) -> String {
        var table = Table(
            "NAME", "DEVICES", "ROLE", "FETCH", "USED", "QUOTA", "ATTACHMENTS", "MISSING",
            leastImportant: ["ROLE", "DEVICES", "QUOTA", "ATTACHMENTS", "USED"])
        for space in spaces {
            table.add(
                Table.Cell(space.name), Table.Cell("\(space.members)"), Table.Cell(space.role?.rawValue ?? "-"),
                Table.Cell(FetchWords.text(space.fetch)),
                Table.Cell(ByteAmount.text(space.usedBytes)), Table.Cell(space.quota.map(ByteAmount.text) ?? "none"),
                Table.Cell("\(space.attachments)"),
                Table.Cell("\(space.missing)", space.missing > 0 ? style.careful : { $0 }))
        }
        return try table.text(style, format)
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say which attachments this device fetches by itself, and how much they may take.",
            usage: "lanyard spaces set NAME [--fetch all|up-to SIZE|on-demand] [--quota SIZE|none] [OPTIONS]",
            discussion: """
                Other devices are not affected. Sizes are like 500k, 10MiB or 1.5GB. What is pinned, or asked for, is fetched \
                whatever the policy says. A quota that is smaller than what is here removes nothing.
                """)
        @Argument(help: "The space, for example home.", completion: Completions.spaces)
        var name: String
        @Option(
            parsing: .upToNextOption,
            help: ArgumentHelp("all, up-to SIZE, or on-demand.", valueName: "policy"))
        var fetch: [String] = []
        @Option(help: ArgumentHelp("How much attachments may take, or none.", valueName: "size"))
        var quota: String?
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try NameRule.check(name, is: .space)
            let space = try await global.client().setSpace(name, try settings())
            try global.print(space) { try global.quiet ? "" : Spaces.text([space], $0) }
        }

        func settings() throws(ControlError) -> SpaceSettings {
            var settings = SpaceSettings()
            if !fetch.isEmpty { settings.fetch = try FetchWords.rule(fetch) }
            switch quota {
            case nil: break
            case "none": settings.quota = .unlimited
            case let text?:
                guard let size = ByteSize(argument: text) else {
                    throw ControlError(
                        .invalidArgument, "\"\(text)\" is no size.", hint: "For example: --quota 20GiB, or --quota none"
                    )
                }
                settings.quota = .bytes(size.bytes)
            }
            guard settings.fetch != nil || settings.quota != nil else {
                throw ControlError(
                    .invalidArgument, "There is nothing to set.",
                    hint: "Give --fetch or --quota: lanyard spaces set --help")
            }
            return settings
        }
    }
}

struct Compact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what is not needed any more, and give the room back.",
        discussion: """
            Changes that every device has and that are older than history is kept (lanyardd --keep-history, 30 days) are \
            dropped from the log, and bytes that no attachment has needed for a day. Objects and events stay as they are. The \
            agent does it by itself from time to time; this does it now, and says what was freed.
            """)
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let answer = try await global.client().compact()
        try global.print(answer) { _ in
            if global.quiet { return "" }
            let parts = [(answer.changes, "change"), (answer.blobs, "blob"), (answer.strayFiles, "stray file")]
                .filter { $0.0 > 0 }.map { Amounts.count($0.0, $0.1) }
            guard let last = parts.last else { return "There was nothing to remove.\n" }
            let list = parts.count == 1 ? last : "\(parts.dropLast().joined(separator: ", ")) and \(last)"
            return "\(ByteAmount.text(answer.freedBytes)) freed: \(list).\n"
        }
    }
}
