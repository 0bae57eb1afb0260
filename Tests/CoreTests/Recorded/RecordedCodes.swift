import SyncCore
import SyncModel
import SyncSimulator
import SyncTransport
import Testing

/// A pairing by typed codes between two devices, recorded; and one device of today that pairs with a recorded one.
///
/// The commands, nodes being numbered from 1: `meet` (both send their offers), `wait 1000` (milliseconds), `type 1 123456`,
/// `cancel 1`. Nonces are the same every time, and so are the codes.
struct RecordedCodes {
    private var machines: [PairingMachine]
    private let offers: [[UInt8]]
    private let record = RecordedLines()
    private var now = Tick.milliseconds(1_000)
    /// Frames under way, with their receivers.
    private var queue: [(node: Int, CodesFrames.Frame)] = []
    private let live: Int?
    private var shown: [Int: String] = [:]
    private var ended: [Int: String] = [:]
    private var admitted: [Int: DeviceID] = [:]

    private struct UnknownCommand: Error { let words: [String] }

    private static let link = ConnectionID(rawValue: 1)
    private static let facts = SimulatedDevice.all.prefix(2).map(\.fact)

    /// The ways in which a pairing ends.
    enum Scenario: String, CaseIterable {
        case paired = "codes-1-paired"
        case wrongCode = "codes-2-wrong-code"
        case cancelled = "codes-3-cancelled"

        fileprivate var title: String {
            switch self {
            case .paired: "Both persons type the code of the other screen."
            case .wrongCode: "A person types another code."
            case .cancelled: "A person stops while the codes are shown."
            }
        }

        /// - Parameter codes: those on both screens.
        fileprivate func commands(_ codes: [Int: String]) -> [String] {
            switch self {
            case .paired: ["type 1 \(codes[1] ?? "")", "type 2 \(codes[0] ?? "")"]
            case .wrongCode: ["type 1 \(codes[0] ?? "")"]
            case .cancelled: ["cancel 2"]
            }
        }
    }

    static func record(_ scenario: Scenario) throws -> RecordedFile {
        var codes = RecordedCodes(live: nil)
        codes.record.lines.append(.prose("# " + scenario.title))
        for command in ["meet", "wait 1000"] { try codes.performAndRecord(command) }
        for command in scenario.commands(codes.shown) { try codes.performAndRecord(command) }
        return RecordedFile(lines: codes.record.lines + (0...1).flatMap { codes.outcomes(of: $0) }.map { .outcome($0) })
    }

    static func replay(_ file: RecordedFile, at node: Int) throws -> Replay {
        // The codes are over the offers as they came: the device of today says again what was said then.
        let own = file.frames.first { $0.sender == node }.flatMap { CodesFrames.decode($0.bytes) }
        guard case .offer(let offer)? = own else { throw UnknownCommand(words: ["no offer of node \(node + 1)"]) }
        var codes = RecordedCodes(live: node, offer: offer)
        for line in file.lines {
            switch line {
            case .prose, .outcome, .time: break
            case .command(let words): try codes.perform(words)
            case .frame(let frame) where frame.node == node:
                guard let heard = CodesFrames.decode(frame.bytes) else {
                    codes.record.faults.append("node \(node + 1) cannot read \(frame.name)")
                    break
                }
                codes.hear(node, heard)
                codes.deliver()
            case .frame: break
            }
        }
        return Replay(outcomes: codes.outcomes(of: node), faults: codes.record.faults)
    }

    private init(live: Int?, offer: [UInt8] = []) {
        self.live = live
        let addresses = ["10.77.0.1:21817", "10.77.0.2:21817"].compactMap { HostPort(text: $0) }
        var offers = zip(Self.facts, addresses).enumerated().map { number, device in
            CodesOffer(device.0, addresses: [device.1], memberCount: UInt64(2 - number)).encoded
        }
        if let live { offers[live] = offer }
        self.offers = offers
        machines = []
        for (number, fact) in Self.facts.enumerated() {
            let side = PairingTranscript.Side(
                subjectPublicKeyInfo: fact.subjectPublicKeyInfo, statement: offers[number])
            machines.append(PairingMachine(own: side, memberCount: UInt64(2 - number), now: now))
        }
    }

    // MARK: What is done

    private mutating func performAndRecord(_ command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        record.add(.command(words), at: now.nanoseconds)
        try perform(words)
    }

    private mutating func perform(_ words: [String]) throws {
        switch words[0] {
        case "meet": for node in 0...1 { send(.offer(offers[node]), from: node) }
        case "wait":
            now = now + .milliseconds(Int64(words[1]) ?? 0)
            for node in 0...1 { step(node, .tick) }
        case "type": if let node = Int(words[1]) { step(node - 1, .typed(words[2])) }
        case "cancel": if let node = Int(words[1]) { step(node - 1, .cancelled) }
        case _: throw UnknownCommand(words: words)
        }
        deliver()
    }

    private mutating func deliver() {
        while !queue.isEmpty {
            let (node, frame) = queue.removeFirst()
            hear(node, frame)
        }
    }

    private mutating func send(_ frame: CodesFrames.Frame, from node: Int) {
        // In a replay the other device has said what it said.
        guard live == nil else { return }
        let bytes = CodesFrames.encode(frame)
        let recorded = RecordedFrame(sender: node, node: 1 - node, name: Self.kind(frame), bytes: bytes)
        record.add(.frame(recorded), at: now.nanoseconds)
        queue.append((1 - node, frame))
    }

    private mutating func hear(_ node: Int, _ frame: CodesFrames.Frame) {
        switch frame {
        case .message(let message): step(node, .received(Self.link, message))
        case .offer(let bytes):
            let key = Self.facts[1 - node].subjectPublicKeyInfo
            guard let offer = CodesOffer(bytes, key: key) else {
                return record.faults.append("node \(node + 1) cannot read the offer")
            }
            let candidate = PairingCandidate(
                side: PairingTranscript.Side(subjectPublicKeyInfo: key, statement: bytes),
                device: offer.device.deviceID, name: offer.device.name, memberCount: offer.memberCount,
                address: offer.device.addresses.first?.description ?? "")
            let nonce = [UInt8](repeating: UInt8(0x41 + node), count: PairingTranscript.nonceByteCount)
            step(node, .offered(Self.link, candidate, nonce: nonce, isAtNamedAddress: false))
        }
    }

    private mutating func step(_ node: Int, _ input: PairingMachine.Input) {
        if let live, live != node { return }
        for effect in machines[node].step(input, at: now) {
            switch effect {
            case .send(_, let message): send(.message(message), from: node)
            case .close, .confirmed: break
            case .show(let code, _): shown[node] = code
            case .admit(_, let peer, _):
                admitted[node] = peer.device
                step(node, .admitted(isDone: true))
            case .ended(let outcome): ended[node] = Self.text(outcome)
            }
        }
    }

    private func outcomes(of node: Int) -> [String] {
        let member = admitted[node].map { "admitted \($0)" } ?? "admitted no device"
        return ["showed \(shown[node] ?? "no code")", "ended \(ended[node] ?? "not yet")", member].map {
            "\(node + 1) \($0)"
        }
    }

    private static func text(_ outcome: PairingOutcome) -> String {
        switch outcome {
        case .paired(let peer): "paired with \(peer.name)"
        case .wrongCode(let peer): "by a wrong code for \(peer.name)"
        case .endedThere(let peer, let reason): "by \(peer.name): \(reason.rawValue)"
        case .connectionLost, .halfPaired, .notAdmitted, .timedOut, .tooManyTries, .cancelled: "\(outcome)"
        }
    }

    private static func kind(_ frame: CodesFrames.Frame) -> String {
        switch frame {
        case .offer: "offer"
        case .message(.commitment): "commitment"
        case .message(.answer): "answer"
        case .message(.opening): "opening"
        case .message(.confirmed): "confirmed"
        case .message(.admitted): "admitted"
        case .message(.ended(let reason)): "ended \(reason.rawValue)"
        }
    }
}
