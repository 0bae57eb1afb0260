import SyncCore
import SyncModel
import SyncSimulator

/// Devices that pair in one room: a machine each, links that keep their order, a clock, and what each screen shows.
///
/// With a relay, machines 2 and 3 are the relay's two faces, both with keys of its own.
struct Room {
    static let devices = SimulatedDevice.all

    struct Screen {
        var needsChoice = false
        var code: String?
        var isConfirmed = false
        var outcome: PairingOutcome?
        var admitted: [DeviceID] = []
        var joinsAsGuest = false
        /// The last code that was typed here.
        var typed: String?
    }

    private struct Cable {
        let ends: [Int]
        /// Messages and ends of the link under way, by the index of the receiving end.
        var toEnd: [[PairingMessage?]] = [[], []]
        var isOpen = [true, true]
    }

    private(set) var screens: [Screen]
    private var machines: [PairingMachine]
    private let wishes: [PairingMachine.Wish]
    private let members: [UInt64]
    private var cables: [Cable] = []
    private var now = Tick.milliseconds(1_000)
    private var generator: SplitMix64
    var isStoreSlow = [false, false, false, false]
    var isStoreFailing = [false, false, false, false]
    /// True if a machine once asked for a tick that was due already: its shell would spin.
    private(set) var isOverdue = false
    /// The device whose openings are replaced on the way.
    var isOpeningForged: Int?
    /// The device whose openings are lost.
    var isMute: Int?

    init(
        devices: Int, members: [UInt64] = [1, 1, 1, 1], wishes: [PairingMachine.Wish] = [.any, .any, .any, .any],
        relay: Bool = false, seed: UInt64 = 1
    ) {
        let count = relay ? 4 : devices
        self.members = members
        self.wishes = wishes
        generator = SplitMix64(seed: seed)
        screens = Array(repeating: Screen(), count: count)
        machines = []
        machines = (0..<count).map { machine($0) }
    }

    static func side(_ device: Int) -> PairingTranscript.Side {
        PairingTranscript.Side(
            subjectPublicKeyInfo: devices[device].fact.subjectPublicKeyInfo, statement: Array("device \(device)".utf8))
    }

    static func nonce(_ generator: inout SplitMix64) -> [UInt8] {
        (0..<4).flatMap { _ in
            let word = generator.next()
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
    }

    func id(_ device: Int) -> DeviceID { Self.devices[device].id }

    func candidate(_ device: Int) -> PairingCandidate {
        PairingCandidate(
            side: Self.side(device), device: id(device), name: "device \(device)", memberCount: members[device],
            address: "10.0.0.\(device)")
    }

    func isOutcome(_ device: Int, _ outcome: PairingOutcome) -> Bool { screens[device].outcome == outcome }

    /// The device that this one is paired with, at the end.
    func paired(_ device: Int) -> DeviceID? {
        if case .paired(let peer)? = screens[device].outcome { peer.device } else { nil }
    }

    private func machine(_ device: Int) -> PairingMachine {
        PairingMachine(own: Self.side(device), memberCount: members[device], wish: wishes[device], now: now)
    }

    /// The person at the device types `lanyard pair` again.
    mutating func renew(_ device: Int) {
        machines[device] = machine(device)
        screens[device] = Screen()
    }

    // MARK: The network

    /// - Parameters:
    ///   - isNamed: the first device dialled an address that its person named.
    ///   - isForeign: the other end is a stranger under a key of its own, which says nothing.
    mutating func connect(
        _ one: Int, _ other: Int, delivering: Bool = true, isNamed: Bool = false, isForeign: Bool = false
    ) {
        if isForeign { return connectStranger(to: one) }
        cables.append(Cable(ends: [one, other]))
        let index = cables.count - 1
        for end in 0...1 { offer(index, end, isNamed: isNamed && end == 0) }
        if delivering { deliver() }
    }

    private mutating func offer(_ index: Int, _ end: Int, isNamed: Bool) {
        let ends = cables[index].ends
        let nonce = Self.nonce(&generator)
        step(
            ends[end],
            .offered(link(index), candidate(ends[1 - end]), nonce: nonce, isAtNamedAddress: isNamed))
    }

    private mutating func connectStranger(to device: Int) {
        let key = Self.nonce(&generator)
        let side = PairingTranscript.Side(subjectPublicKeyInfo: key, statement: [])
        let stranger = PairingCandidate(
            side: side, device: DeviceID(subjectPublicKeyInfo: key), name: "stranger", memberCount: 1, address: "")
        cables.append(Cable(ends: [device, -1]))
        let nonce = Self.nonce(&generator)
        step(device, .offered(link(cables.count - 1), stranger, nonce: nonce, isAtNamedAddress: false))
        cables[cables.count - 1].isOpen[1] = false
    }

    private func link(_ index: Int) -> ConnectionID { ConnectionID(rawValue: UInt64(index)) }

    /// All links between the two break.
    mutating func cut(_ one: Int, _ other: Int) {
        for index in cables.indices where Set(cables[index].ends) == [one, other] {
            cables[index].toEnd = [[], []]
            for end in 0...1 where cables[index].isOpen[end] {
                cables[index].isOpen[end] = false
                step(cables[index].ends[end], .closed(link(index)))
            }
        }
    }

    private mutating func deliver() {
        while let (index, end) = waiting.first { deliverOne(index, end) }
    }

    mutating func deliverInAnyOrder() {
        while let (index, end) = waiting.randomElement(using: &generator) { deliverOne(index, end) }
    }

    private var waiting: [(Int, Int)] {
        cables.indices.flatMap { index in (0...1).filter { !cables[index].toEnd[$0].isEmpty }.map { (index, $0) } }
    }

    private mutating func deliverOne(_ index: Int, _ end: Int) {
        let message = cables[index].toEnd[end].removeFirst()
        guard cables[index].isOpen[end], cables[index].ends[end] >= 0 else { return }
        let device = cables[index].ends[end]
        if let message {
            step(device, .received(link(index), message), delivering: false)
        } else {
            cables[index].isOpen[end] = false
            step(device, .closed(link(index)), delivering: false)
        }
    }

    // MARK: The people

    mutating func type(_ code: String, at device: Int) {
        if screens[device].code != nil, !screens[device].isConfirmed { screens[device].typed = code }
        step(device, .typed(code))
        deliver()
    }

    mutating func typeCode(of other: Int, at device: Int) {
        if let code = screens[other].code { type(code, at: device) }
    }

    mutating func typeCrosswise(_ one: Int, _ other: Int) {
        typeCode(of: other, at: one)
        typeCode(of: one, at: other)
    }

    mutating func choose(_ other: Int, at device: Int) {
        step(device, .chose(id(other)))
        deliver()
    }

    /// - Parameter only: the one device whose clock goes on.
    mutating func wait(milliseconds: Int64, only: Int? = nil) {
        now = now + .milliseconds(milliseconds)
        for device in machines.indices where only == nil || only == device { step(device, .tick) }
        deliver()
    }

    mutating func step(_ device: Int, _ input: PairingMachine.Input, delivering: Bool = true) {
        let effects = machines[device].step(input, at: now)
        screens[device].needsChoice = machines[device].needsChoice
        isOverdue = isOverdue || machines[device].nextDeadline.map { $0 <= now } ?? false
        for effect in effects { perform(effect, device) }
        if delivering, case .cancelled = input { deliver() }
    }

    private mutating func perform(_ effect: PairingMachine.Effect, _ device: Int) {
        switch effect {
        case .send(let id, let message): send(id, message, from: device)
        case .close(let id): close(id, from: device)
        case .show(let code, _): screens[device].code = code
        case .confirmed: screens[device].isConfirmed = true
        case .admit(_, let peer, let isHost):
            if isStoreFailing[device] { return step(device, .admitted(isDone: false), delivering: false) }
            screens[device].admitted.append(peer.device)
            screens[device].joinsAsGuest = isHost
            if !isStoreSlow[device] { step(device, .admitted(isDone: true), delivering: false) }
        case .ended(let outcome): screens[device].outcome = outcome
        }
    }

    private mutating func send(_ id: ConnectionID, _ message: PairingMessage, from device: Int) {
        let index = Int(id.rawValue)
        guard let end = cables[index].ends.firstIndex(of: device), cables[index].isOpen[end] else { return }
        if device == isMute, case .opening = message { return }
        var message = message
        if device == isOpeningForged, case .opening = message { message = .opening(Self.nonce(&generator)) }
        cables[index].toEnd[1 - end].append(message)
    }

    private mutating func close(_ id: ConnectionID, from device: Int) {
        let index = Int(id.rawValue)
        guard let end = cables[index].ends.firstIndex(of: device), cables[index].isOpen[end] else { return }
        cables[index].isOpen[end] = false
        cables[index].toEnd[1 - end].append(nil)
    }

    // MARK: Anything

    /// Two minutes in which links come and break, people choose, type rightly and wrongly, and stop.
    mutating func play() {
        for _ in 0..<60 {
            let (device, other) = (Int.random(in: 0..<3, using: &generator), Int.random(in: 0..<3, using: &generator))
            switch Int.random(in: 0..<16, using: &generator) {
            case 0...3: if device != other { connect(device, other, delivering: false) }
            case 4: if device != other { choose(other, at: device) }
            case 5...9: if device != other { typeCode(of: other, at: device) }
            case 10: if Bool.random(using: &generator) { type("000000", at: device) }
            case 11: if Int.random(in: 0..<4, using: &generator) == 0 { cut(device, other) }
            case 12: if Int.random(in: 0..<4, using: &generator) == 0 { step(device, .cancelled) }
            case _:
                now = now + .milliseconds(Int64.random(in: 0...400, using: &generator))
                for machine in machines.indices { step(machine, .tick, delivering: false) }
            }
            for _ in 0..<4 { if let (index, end) = waiting.randomElement(using: &generator) { deliverOne(index, end) } }
        }
        deliverInAnyOrder()
        wait(milliseconds: 120_000)
    }
}
