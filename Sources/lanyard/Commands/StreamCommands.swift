import ArgumentParser
import ControlAPI
import LanyardClient

struct Streams: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the streams; say how one is kept.", subcommands: [Set.self])
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let all = try await global.client().streams(space: global.space)
        let streams = try listing.rows(all)
        try global.print(streams) { style in
            var table = Table(
                "NAME", "EVENTS", "POSITION", "LAST EVENT", "KEPT", leastImportant: ["POSITION", "KEPT", "LAST EVENT"])
            for stream in streams {
                table.add(
                    Table.Cell(stream.name), Table.Cell(String(stream.events)), Table.Cell(stream.position?.text),
                    Table.Cell(TimeText.local.age(stream.lastEvent)), Table.Cell(stream.keeping))
            }
            return try table.text(style, listing.table)
        }
        for stream in streams {
            guard let overdue = stream.overdue else { continue }
            let since = TimeText.local.exact(overdue.since)
            global.note("\(shown(stream.name)): events that could have gone since \(since) wait. \(overdue.next)")
        }
        if all.isEmpty { global.note("No streams yet. Begin one: lanyard emit hello '{\"text\":\"hi\"}'") }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say how a stream is kept, on all devices.",
            discussion: """
                What is not said stays as it is. The stream need not have events yet.
                With --retain older events go on all devices, once each has them and every snapshot of the stream holds \
                them; some minutes later than the time says, or by a sixteenth of it. Of a stream that shows the latest per type \
                those stay, and of one without a time what was superseded goes after 30 days (lanyardd --keep-history).
                """)
        @Argument(help: "The stream.", completion: Completions.streams)
        var stream: String
        @Flag(inversion: .prefixedNo, help: "Show only the greatest event per type (a light switch).")
        var latestOnly: Bool?
        @Option(
            help: ArgumentHelp(
                "How long events are kept, for example 30d; or forever.",
                valueName: "time"))
        var retain: Retain?
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if latestOnly == nil, retain == nil {
                throw ValidationError("Say what to set: --latest-only, --retain, or both.")
            }
        }

        func run() async throws {
            try NameRule.check(stream, is: .stream)
            let entry = try await global.client().setStream(
                stream, StreamSettings(latestOnly: latestOnly, retention: retain?.retention), space: global.space)
            try global.print(entry) { _ in
                global.quiet ? "" : "\(shown(entry.name)) keeps \(entry.keeping).\n"
            }
        }
    }
}

/// `--retain`: a length of time, or `forever`.
struct Retain: ExpressibleByArgument {
    let retention: StreamSettings.Retention

    init?(argument: String) {
        if argument == "forever" {
            retention = .forever
        } else if let length = TimeLength(argument: argument), length.milliseconds >= 1_000 {
            retention = .seconds(length.milliseconds / 1_000)
        } else {
            return nil
        }
    }
}

extension StreamEntry {
    var keeping: String {
        let what = latestOnly ? "the latest per type" : "all"
        return retainSeconds.map { "\(what) for \(TimeText.length(seconds: $0))" } ?? what
    }
}

extension OverdueEvents {
    /// The next thing that a person can do about it.
    fileprivate var next: String {
        switch waitsFor {
        case .members: "A device has not acknowledged them: lanyard status says which."
        case .snapshot:
            "A snapshot does not hold them, or its bytes are not here: lanyard snapshot list; save a newer one, or delete it."
        case .types: "It shows the latest of more than 1,024 types: so many cannot be kept apart from what goes."
        case .clock: "A clock is minutes off: lanyard doctor says whose. Set it right."
        case .device: "This device has other work to finish first: lanyard status says what."
        }
    }
}

struct Consumers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show durable readers; move or forget one.",
        subcommands: [Set.self, Remove.self])
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let all = try await global.client().consumers(space: global.space)
        let consumers = try listing.rows(all)
        try global.print(consumers) { style in
            var table = Table(
                "NAME", "STREAM", "ORDER", "POSITION", "BEHIND", "STATE", leastImportant: ["ORDER", "POSITION"])
            for consumer in consumers {
                table.add(
                    Table.Cell(consumer.name), Table.Cell(consumer.stream), Table.Cell(consumer.order.rawValue),
                    Table.Cell(consumer.position?.text), Table.Cell(String(consumer.behind)),
                    Table.Cell(consumer.restoring ? "restore unfinished" : "reads") {
                        consumer.restoring ? style.careful($0) : $0
                    })
            }
            return try table.text(style, listing.table)
        }
        if all.isEmpty { global.note("No consumers yet. Begin one: lanyard events STREAM --consumer NAME") }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move a consumer to a position, also backwards.")
        @Argument(help: "The consumer.", completion: Completions.consumers)
        var name: String
        @Argument(help: "The position of an event that was printed; 0 is the beginning.")
        var position: String
        @Option(help: "Its stream, when it reads several or is new.", completion: Completions.streams)
        var stream: String?
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try NameRule.check(name, is: .consumer)
            if let stream { try NameRule.check(stream, is: .stream) }
            let consumer = try await global.client().setConsumer(
                name, stream: stream, position: try EventPosition(parsing: position), space: global.space)
            try global.print(consumer) { _ in
                global.quiet
                    ? ""
                    : "\(shown(consumer.name)) is at \(consumer.position?.text ?? "0") in \(shown(consumer.stream)), \(Amounts.count(consumer.behind, "event")) behind.\n"
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget a consumer; the events stay.", aliases: ["rm"])
        @Argument(help: "The consumer.", completion: Completions.consumers)
        var name: String
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try NameRule.check(name, is: .consumer)
            let removed = try await global.client().removeConsumer(name, space: global.space)
            guard removed else {
                throw ControlError(
                    .unknownConsumer, "There is no consumer with that name.", hint: "See them with: lanyard consumers")
            }
            try global.print(RemovedResponse(removed: true)) { _ in global.quiet ? "" : "\(shown(name)) forgotten.\n" }
        }
    }
}
