import Glibc
import Lanyard

/// A track that was played: what happened, not what it makes the count. Counts follow from all events, in any order.
struct Played: LanyardEvent {
    var track = ""

    static var stream: String { "plays" }
}

@main struct Plays {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.count) {
            case ("add", 2): try await Lanyard.connect().emit(Played(track: words[1]))
            case ("show", 1):
                var counting = try await Counting()
                try await counting.read(follow: false)
                counting.show()
            case ("watch", 1):
                var counting = try await Counting()
                counting.show()
                try await counting.read(follow: true) { $0.show() }
            case ("save", 1):
                var counting = try await Counting()
                try await counting.read(follow: false)
                try await counting.save()
            case _: end("Usage: plays add TRACK | plays show | plays watch | plays save", status: 2)
            }
        } catch let error as ControlError {
            end("plays: \(error.message) \(error.hint)", status: 1)
        } catch {
            end("plays: \(error)", status: 1)
        }
    }

    static func say(_ sentence: String) {
        _ = (sentence + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }

    /// Ends the program with a sentence on standard error.
    static func end(_ sentence: String, status: Int32) -> Never {
        say(sentence)
        exit(status)
    }
}

/// The counts, and how this device comes to them.
struct Counting {
    /// The form of the counts. Version 1 of this program counted without regard to the track; its states are of no use here.
    private static let schema: Int64 = 2
    private static let consumer = "plays"

    private let home: Lanyard
    private let file: CountsFile
    private var state = CountsFile.State(schema: Self.schema)

    /// Begins with the counts that this device has, else with a snapshot, else with nothing.
    init() async throws {
        file = try CountsFile()
        home = try await Lanyard.connect()
        let consumer = try await home.consumer(Self.consumer, of: Played.self)
        // A restore that was interrupted leaves it open whether the file is from before or after it: once more, then.
        if let own = try file.read(), own.schema == Self.schema, let consumer, !consumer.restoring {
            state = own
            return
        }
        let file = file
        let restored = try await home.restoreSnapshot(
            [String: Int].self, of: Played.self, consumer: Self.consumer, schema: Self.schema
        ) { counts in try file.write(CountsFile.State(schema: Self.schema, counts: counts)) }
        if let restored {
            state.counts = restored.state
            Plays.say("plays: began with a snapshot")
        } else {
            // There is none, or only of other versions. The consumer may stand where an older version of this program left it.
            try await home.restart(consumer: Self.consumer, of: Played.self)
            try file.write(state)
            Plays.say("plays: began with nothing")
        }
    }

    /// Counts the events that this device has not counted yet.
    mutating func read(follow: Bool, _ show: (Counting) -> Void = { _ in }) async throws {
        for try await batch in home.eventBatches(of: Played.self, consumer: Self.consumer, follow: follow) {
            for event in batch {
                // A program that ended between writing the file and asking for more is given the same events again.
                if let last = state.position, event.position <= last { continue }
                state.counts[event.value.track, default: 0] += 1
                state.position = event.position
            }
            // Before the next batch is asked for: by that the agent knows that it need not give these again.
            try file.write(state)
            show(self)
        }
    }

    /// Saves the counts for devices that begin later.
    func save() async throws {
        let saved = try await home.saveSnapshot(
            state.counts, of: Played.self, consumer: Self.consumer, schema: Self.schema, position: state.position,
            keepMostRecent: 3)
        Plays.say("plays: saved a snapshot of \(saved.snapshot.size) bytes")
    }

    func show() {
        for (track, count) in state.counts.sorted(by: { $0.key < $1.key }) { print("\(track): \(count)") }
        // An empty line ends each table. Print keeps lines back when it writes into a pipe.
        print()
        fflush(nil)
    }
}
