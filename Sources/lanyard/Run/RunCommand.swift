import ArgumentParser
import ControlAPI
import Glibc
import LanyardClient
import Synchronization

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command for each event of a stream, in order, until it succeeds.",
        usage: """
            lanyard run STREAM [--consumer NAME] [--attempts N] [--timeout TIME] [--drain] -- CMD [ARGUMENT…]
                   lanyard run STREAM [--consumer NAME] --letters
                   lanyard run STREAM [--consumer NAME] --retry -- CMD [ARGUMENT…]
            """,
        discussion: """
            The command has the event's JSON on its standard input, and LANYARD_STREAM, LANYARD_TYPE, LANYARD_EVENT (its dot), \
            LANYARD_POSITION, LANYARD_DEVICE, LANYARD_TIME, LANYARD_SPACE, LANYARD_CONSUMER and LANYARD_ATTEMPT in its environment. \
            An event is done when the command exits with 0; after a crash it may come again, so do each dot once. A new consumer \
            begins with the first event of the stream (lanyard consumers set moves it).
            A command that fails is run again after 1 s, 2 s, 4 s … 60 s; one that has not ended after --timeout is killed and has \
            failed. Later events wait meanwhile. After --attempts tries the event becomes a dead letter, a file of this device, \
            and the next one comes. --letters lists them, --retry runs the command for each of them, and forgets those it takes.
            Ctrl-C lets the command end that runs now; a second one kills it, and the event comes again.
            """)
    @Argument(help: ArgumentHelp("The stream.", valueName: "stream"), completion: Completions.streams)
    var stream: String
    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "cmd"))
    var words: [String] = []
    @Option(
        help: ArgumentHelp("The durable consumer that remembers what is done.", valueName: "name"),
        completion: Completions.consumers)
    var consumer = "run"
    @Option(help: ArgumentHelp("How often an event is tried before it is a dead letter.", valueName: "n"))
    var attempts = 5
    @Option(help: ArgumentHelp("The time that the command has for one event.", valueName: "time"))
    var timeout = TimeLength(milliseconds: 60_000)
    @Flag(help: "End once all events that are there are done, instead of waiting for more.")
    var drain = false
    @Flag(help: "Show the dead letters.")
    var letters = false
    @Flag(help: "Run the command for each dead letter, once.")
    var retry = false
    @Option(
        help: ArgumentHelp("The folder for dead letters, by default in the user's state.", valueName: "folder"),
        completion: .directory)
    var deadLetters: String?
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard letters != !words.isEmpty else {
            throw ValidationError(
                letters ? "--letters takes no command." : "Give the command after --: lanyard run STREAM -- CMD")
        }
        guard !letters || !retry, !drain || !(letters || retry) else {
            throw ValidationError("Give one of --drain, --letters and --retry.")
        }
        guard letters || !listing.isGiven else {
            throw ValidationError("--where, --format and --no-headers go with --letters.")
        }
        guard (1...1_000).contains(attempts) else { throw ValidationError("An event is tried 1 to 1,000 times.") }
        guard (1_000...86_400_000).contains(timeout.milliseconds) else {
            throw ValidationError("The command has 1s to 1d for one event.")
        }
    }

    func run() async throws {
        try NameRule.check(stream, is: .stream)
        try NameRule.check(consumer, is: .consumer)
        let client = try global.client()
        guard let base = deadLetters ?? DeadLetters.usualBase else {
            throw ControlError(
                .invalidArgument, "There is no folder for dead letters: HOME is not set.",
                hint: "Give one: --dead-letters FOLDER")
        }
        guard base.hasPrefix("/") else {
            throw ControlError(
                .invalidArgument, "The folder for dead letters is no whole path.", hint: "Begin it with a slash.")
        }
        let kept = DeadLetters(
            in: base, device: try await client.status().device.shortID, space: global.space, stream: stream,
            consumer: consumer)
        if letters { return try show(kept) }
        try kept.open(isForRetry: retry)
        let runner = EventRunner(
            request: EventReadRequest(space: global.space, stream: stream, consumer: consumer, follow: !drain),
            command: EventCommand(words, timeout: timeout), letters: kept, attempts: attempts, client: client,
            global: global, lettersCommand: lettersCommand)
        if retry { try await runner.retry() } else { try await runner.run() }
    }

    /// The command that lists the letters of this run.
    private var lettersCommand: String {
        var words = ["lanyard", "run", stream]
        if !consumer.isEmpty { words += ["--consumer", consumer] }
        if global.space != "home" { words += ["--space", global.space] }
        if let deadLetters { words += ["--dead-letters", deadLetters] }
        return (words + ["--letters"]).map(ShellWord.quoted).joined(separator: " ")
    }

    private func show(_ kept: DeadLetters) throws {
        let all = try kept.all()
        let letters = try listing.rows(all.map(\.letter))
        let entries = all.filter { entry in letters.contains { $0.event.dot == entry.letter.event.dot } }
        try global.print(letters) { style in
            var table = Table(
                "EVENT", "TYPE", "TRIES", "FAILURE", "LAST TRY", "FILE", leastImportant: ["TYPE", "FILE"])
            for entry in entries {
                let letter = entry.letter
                table.add(
                    Table.Cell(letter.event.dot), Table.Cell(letter.event.type), Table.Cell(String(letter.attempts)),
                    Table.Cell(letter.failure, style.careful), Table.Cell(TimeText.local.age(letter.time)),
                    Table.Cell(entry.file))
            }
            return try entries.isEmpty ? "" : table.text(style, listing.table)
        }
        if all.isEmpty { global.note("No dead letters.") }
    }
}
