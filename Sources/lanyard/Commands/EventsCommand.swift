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
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try NameRule.check(stream, is: .stream)
        if let consumer { try NameRule.check(consumer, is: .consumer) }
        var reading = EventReadRequest(
            space: global.space, stream: stream, order: order, consumer: consumer, follow: follow)
        if let after { reading.after = try EventPosition(parsing: after) }
        if let type { try NameRule.check(type, is: .type) }
        (reading.last, reading.type) = (last, type)
        if let before { reading.before = try EventPosition(parsing: before) }
        let exists = try await global.client().readEventLines(reading) { block in
            try StandardOutput.write(json: block)
        }
        if exists, consumer == nil, after == nil, before == nil, last == nil, !follow {
            let entry = try await global.client().streams(space: global.space).first { $0.name == stream }
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
}
