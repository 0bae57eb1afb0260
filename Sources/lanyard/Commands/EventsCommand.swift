public import ArgumentParser
public import ControlAPI
import LanyardClient

extension EventOrder: ExpressibleByArgument {}

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a stream's events, one JSON object per line.",
        discussion: """
            With --consumer the agent remembers how far was read: a line counts as read once it was written to standard \
            output. What was handed out before without being written comes again with "redelivered": true.
            In canonical order a consumer, and a reader with --follow, hears of late events: {"rewind":true,…,"position":P} says \
            that everything behind P is undone; the lines after it begin there. Positions sort as texts.
            --where keeps lines; for a consumer those that it leaves out count as read, too. --format and --no-headers print a \
            table in place of JSON.
            """)
    @Argument(help: ArgumentHelp("The stream.", valueName: "stream"), completion: Completions.streams)
    var stream: String
    @Option(
        help: ArgumentHelp("Read as this durable consumer.", valueName: "name"), completion: Completions.consumers)
    var consumer: String?
    @Option(help: ArgumentHelp("Begin after this position.", valueName: "position"))
    var after: String?
    @Option(name: [.long, .customShort("n")], help: ArgumentHelp("Only the last so many.", valueName: "n"))
    var last: Int?
    @Option(
        help: ArgumentHelp("Those that came before this position; the last 1,000, or --last.", valueName: "position"))
    var before: String?
    @Option(help: ArgumentHelp("Only events of this type.", valueName: "type"))
    var type: String?
    @Flag(name: .shortAndLong, help: "Go on with events that come later.")
    var follow = false
    @Option(help: "arrival: as they came here. canonical: the same on every device.")
    var order = EventOrder.arrival
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if listing.columns.isGiven, order == .canonical, follow || consumer != nil {
            throw ValidationError(
                "A table has no rewinds: leave out --format and --no-headers, or read in the order of arrival.")
        }
    }

    func run() async throws {
        try NameRule.check(stream, is: .stream)
        if let consumer { try NameRule.check(consumer, is: .consumer) }
        var reading = EventReadRequest(
            space: global.space, stream: stream, order: order, consumer: consumer, follow: follow)
        if let after { reading.after = try EventPosition(parsing: after) }
        if let type { try NameRule.check(type, is: .type) }
        (reading.last, reading.type) = (last, type)
        if let before { reading.before = try EventPosition(parsing: before) }
        _ = try listing.rows([EventLine]())
        let client = try global.client()
        let exists =
            if listing.columns.isGiven, !global.json {
                try await showTable(reading, client)
            } else {
                try await client.readEventLines(reading) { try StandardOutput.write(json: try lines($0)) }
            }
        if exists, consumer == nil, after == nil, before == nil, last == nil, !follow {
            let entry = try await client.streams(space: global.space).first { $0.name == stream }
            if let entry, entry.letGo {
                let begin = entry.begins.map(TimeText.local.exact)
                let gone = begin.map { "Events from before \($0) were dropped" } ?? "Its events were dropped"
                global.note("\(gone): \(shown(stream)) keeps \(entry.keeping).")
            }
        }
        if !exists {
            global.note("The stream \(shown(stream)) has no events yet. Write one: lanyard emit \(shown(stream)) '{}'")
        }
    }

    /// Returns the lines that `--where` keeps, byte for byte, and every rewind.
    private func lines(_ block: [UInt8]) throws(ControlError) -> [UInt8] {
        guard !listing.conditions.isEmpty else { return block }
        let kept = try listing.rows(block.split(separator: 0x0A)) { line in
            line.starts(with: RewindLine.prefix) ? nil : try? JSONDocument(Array(line))
        }
        return kept.flatMap { $0 + [0x0A] }
    }

    private func showTable(_ reading: EventReadRequest, _ client: LanyardClient) async throws -> Bool {
        let titles = Table(
            "TIME", "DEVICE", "TYPE", "POSITION", "DOT", "REDELIVERED", "PAYLOAD",
            leastImportant: ["REDELIVERED", "DOT", "POSITION", "TYPE"])
        var table = try Table.Growing(titles, global.style, listing.table)
        let names = await DeviceNames(client, space: global.space)
        // What comes later is not waited for, and what a consumer was given has to be written before it counts as read.
        let isPrompt = follow || consumer != nil
        let exists = try await client.readEvents(reading) { events in
            let rows = try listing.rows(events)
            for event in rows {
                table.add(
                    Table.Cell(TimeText.local.exact(event.time)), Table.Cell(names[event.device]),
                    Table.Cell(event.type), Table.Cell(event.position.text), Table.Cell(event.dot),
                    Table.Cell(event.redelivered ? "yes" : "no"), Table.Cell(ValueText.line(event.payload)))
            }
            try StandardOutput.write(try table.lines(now: isPrompt && !rows.isEmpty))
        }
        if exists { try StandardOutput.write(try table.lines(now: true)) }
        return exists
    }
}
