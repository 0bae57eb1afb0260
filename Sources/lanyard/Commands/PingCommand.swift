import ArgumentParser
import ControlAPI
import LanyardClient
import Synchronization

struct Ping: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure the way to a device: path, round trips, and how soon its disk has what this one wrote.",
        discussion: """
            Each round measures a round trip over the session (rtt), and the time until the device says that the newest change \
            of this one is on its disk (durable). Nothing is written for it. Ends after --count rounds or with Ctrl-C, and sums up.
            Without a session it measures a TCP connection instead, which says nothing of what listens there. \
            Exits with 1 without a session, with 6 if no answer came in time.
            With --from, another device is asked for the round trip that it measured last to this one; once, and without a disk.
            """)
    @Argument(
        help: ArgumentHelp("The device's name, short id or id.", valueName: "device"), completion: Completions.peers)
    var peer: String
    @Option(
        help: ArgumentHelp("Show the round trip that another device measured to it.", valueName: "device"),
        completion: Completions.peers)
    var from: String?
    @Option(
        name: [.customShort("c"), .customLong("count")],
        help: ArgumentHelp("Rounds; 0: until it is stopped. (default: 5)", valueName: "n"))
    var givenCount: Int?
    @Option(
        name: [.customShort("i"), .customLong("interval")],
        help: ArgumentHelp("The time from one round to the next. (default: 1s)", valueName: "time"))
    var givenInterval: TimeLength?
    @Option(help: ArgumentHelp("The time to wait for an answer.", valueName: "time"))
    var timeout = TimeLength(milliseconds: 5_000)
    @OptionGroup var global: GlobalOptions

    private var count: Int { givenCount ?? 5 }
    private var interval: TimeLength { givenInterval ?? TimeLength(milliseconds: 1_000) }

    func validate() throws {
        if from != nil, givenCount != nil || givenInterval != nil {
            throw ValidationError("--from asks once: it goes without --count and --interval.")
        }
        guard count >= 0 else { throw ValidationError("The number of rounds is 0 or more.") }
        guard (100...86_400_000).contains(interval.milliseconds) else {
            throw ValidationError("The time from one round to the next is between 100ms and 1d.")
        }
        guard (1...60_000).contains(timeout.milliseconds) else {
            throw ValidationError("The time to wait for an answer is between 1ms and 60s.")
        }
    }

    func run() async throws {
        if let from { return try await show(from: from) }
        let (client, sum) = (try global.client(), PingSum(peer: peer, global: global))
        Interruption.handle { _ in sum.end() }
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        var round = 0
        while count == 0 || round < count {
            let answer = try await client.ping(peer, timeoutMilliseconds: timeout.milliseconds)
            round += 1
            try sum.add(answer)
            guard count == 0 || round < count else { break }
            // Rounds that took longer than the interval are followed at once.
            try await Task.sleep(until: max(clock.now, start + .milliseconds(interval.milliseconds) * round))
        }
        sum.end()
    }
}

extension Ping {
    /// Shows what another device measured.
    private func show(from other: String) async throws {
        let answer = try await global.client().roundTrip(
            to: peer, from: other, timeoutMilliseconds: timeout.milliseconds)
        let (from, to) = (shown(answer.from.name), shown(answer.to.name))
        guard answer.connected else {
            if global.json { try global.print(answer) { _ in "" } }
            let way = Self.way(answer.address, answer.tcpMilliseconds, answer.tcpFailure).map { "; from there, \($0)" }
            Failure.end(
                ControlError(
                    .unreachable, "\(from) has no session with \(to)\(way ?? "").",
                    hint: "Ask why on one of the two: lanyard why \(ShellWord.quoted(answer.to.name))"),
                asJSON: global.json)
        }
        try global.print(answer) { style in
            let time = answer.rttMilliseconds.map { Amounts.milliseconds($0) } ?? style.careful("not measured yet")
            return "\(from) to \(to)  rtt \(time)\n"
        }
    }

    /// A TCP connection to a device without a session, in words; nil if none was tried.
    fileprivate static func way(_ address: String?, _ milliseconds: Double?, _ failure: String?) -> String? {
        guard let address = address.map(shown) else { return nil }
        if milliseconds != nil { return "a TCP connection to \(address) took \(Amounts.milliseconds(milliseconds))" }
        return failure.map { "\(address): \(shown($0.split(separator: "_").joined(separator: " ")))" }
    }
}

/// The rounds of a `lanyard ping`: shown as they come, summed up at the end, whichever thread ends it.
private final class PingSum: Sendable {
    private struct State {
        var last: PingResponse?
        var rounds = 0
        var roundTrips = PingFigures()
        var durables = PingFigures()
        var handshakes = PingFigures()
        var hasEnded = false
    }

    private let peer: String
    private let global: GlobalOptions
    private let state = Mutex(State())

    init(peer: String, global: GlobalOptions) {
        self.peer = peer
        self.global = global
    }

    func add(_ answer: PingResponse) throws {
        let isOver = state.withLock { state in
            state.last = answer
            state.rounds += 1
            if let milliseconds = answer.rttMilliseconds { state.roundTrips.add(milliseconds) }
            if let milliseconds = answer.durableMilliseconds { state.durables.add(milliseconds) }
            if let milliseconds = answer.tcpMilliseconds { state.handshakes.add(milliseconds) }
            return state.hasEnded
        }
        guard !isOver, !global.quiet, !global.json else { return }
        try StandardOutput.write(line(answer))
    }

    private func line(_ answer: PingResponse) -> String {
        let style = global.style
        guard answer.connected else {
            let way = Ping.way(answer.address, answer.tcpMilliseconds, answer.tcpFailure).map { "; \($0)" } ?? ""
            let next = answer.nextAttempt.map { "; tries again \(TimeText.local.until($0))" } ?? ""
            return "\(shown(answer.name))  \(style.bad("no session"))\(way)\(next)\n"
        }
        func text(_ milliseconds: Double?) -> String {
            milliseconds == nil ? style.careful("no answer in time") : Amounts.milliseconds(milliseconds)
        }
        return "\(shown(answer.name))  \(path(answer))  rtt \(text(answer.rttMilliseconds))  "
            + "durable \(text(answer.durableMilliseconds))\n"
    }

    private func path(_ answer: PingResponse) -> String {
        let via = answer.via.map { " (\($0.rawValue))" } ?? ""
        return answer.address.map { "\(shown($0))\(via)" } ?? "no address"
    }

    /// Sums up and ends the program; the second of two threads does nothing.
    func end() {
        let sum = state.withLock { state -> State? in
            defer { state.hasEnded = true }
            return state.hasEnded ? nil : state
        }
        guard let sum else { return }
        guard let last = sum.last else {
            Failure.end(ControlError(.cancelled, "It was stopped before the first answer."), asJSON: global.json)
        }
        try? global.print(answer(last, sum)) { style in text(last, sum, style) }
        if let fault = fault(last, sum) { Failure.end(fault, asJSON: global.json) }
        Program.exit(.ok)
    }

    private func text(_ last: PingResponse, _ sum: State, _ style: Style) -> String {
        var line = "\(Amounts.count(sum.rounds, "round")), \(sum.roundTrips.count) answered"
        if let text = sum.roundTrips.text { line += "; rtt \(text)" }
        if let text = sum.durables.text { line += "; durable \(text)" }
        if let text = sum.handshakes.text { line += "; TCP \(text)" }
        line += "\n"
        if let error = last.lastError {
            line += style.faint("last error: \(shown(error.code)), \(TimeText.local.age(error.time))") + "\n"
        }
        return line
    }

    private func fault(_ last: PingResponse, _ sum: State) -> ControlError? {
        let name = shown(last.name)
        let hint = "See what is in the way: lanyard why \(ShellWord.quoted(peer))"
        if sum.roundTrips.count == 0, !last.connected {
            return ControlError(.unreachable, "There is no session with \(name).", hint: hint)
        }
        if sum.roundTrips.count == 0 {
            return ControlError(.timedOut, "\(name) did not answer in time.", hint: hint)
        }
        guard sum.durables.count == 0 else { return nil }
        return ControlError(
            .timedOut, "\(name) answers, and did not say in time that the newest change is on its disk.", hint: hint)
    }

    private func answer(_ last: PingResponse, _ sum: State) -> PingAnswer {
        PingAnswer(
            peer: last.name, id: last.id, connected: last.connected, path: last.address, via: last.via,
            rounds: sum.rounds, answered: sum.roundTrips.count, rttMilliseconds: sum.roundTrips.average,
            durableMilliseconds: sum.durables.average, tcpMilliseconds: sum.handshakes.average,
            tcpFailure: last.tcpFailure, rtt: sum.roundTrips.range, durable: sum.durables.range,
            lastError: last.lastError)
    }
}

/// The least, the average and the greatest of measured times.
private struct PingFigures {
    struct Range: Encodable {
        let minimum: Double
        let average: Double
        let maximum: Double
    }

    private(set) var count = 0
    private var sum = 0.0
    private var least = Double.infinity
    private var greatest = 0.0

    mutating func add(_ milliseconds: Double) {
        count += 1
        sum += milliseconds
        least = min(least, milliseconds)
        greatest = max(greatest, milliseconds)
    }

    /// To a microsecond, as it is measured.
    var average: Double? { count == 0 ? nil : (sum / Double(count) * 1_000).rounded() / 1_000 }

    var range: Range? { average.map { Range(minimum: least, average: $0, maximum: greatest) } }

    var text: String? {
        average.map { average in
            "min/avg/max " + [least, average, greatest].map(ByteAmount.decimal).joined(separator: "/") + " ms"
        }
    }
}

/// The sum of all rounds, as JSON; the times are averages.
private struct PingAnswer: Encodable {
    let peer: String
    let id: String
    let connected: Bool
    let path: String?
    let via: Peer.Via?
    let rounds: Int
    let answered: Int
    let rttMilliseconds: Double?
    let durableMilliseconds: Double?
    /// The mean of TCP connections, while there was no session.
    let tcpMilliseconds: Double?
    let tcpFailure: String?
    let rtt: PingFigures.Range?
    let durable: PingFigures.Range?
    let lastError: PingResponse.Failure?
}
