import SyncModel

/// Another run of a peer's device said hello while this session was up.
///
/// A restart that is too quick for the old socket's end looks the same, so the old run is asked: a pong to a ping that was
/// sent after the second hello can only come from a process that lives beside the one that said it.
struct TwinChallenge: Sendable, Equatable {
    let runID: UInt64
    let nonce: UInt64
    let askedAt: Tick
    var isAnswered = false
}

/// The state about devices whose keys two live agents have, kept for as long as the core runs.
struct TwinKeeping: Sendable {
    /// A peer's claim of another run of this device, with or without a proof.
    struct Claim: Sendable {
        let otherRun: UInt64
        var count = 1
    }

    /// A run of a device with a twin that this side told so: without proof, and once more when there was one.
    struct Told: Sendable {
        let run: UInt64
        let hasProof: Bool
    }

    /// True if another live agent has our key.
    var isKeyShared = false
    /// A peer said so without proof: until then nothing is acknowledged in the name of both.
    private(set) var doubtedUntil: Tick?
    /// The time at which each peer last caused a doubt. A claim without proof suspends acknowledgements for a while, so one
    /// peer cannot cause the next doubt soon.
    private var doubts: [DeviceID: Tick] = [:]
    /// The claims, by the peer that made each last.
    private(set) var claims: [DeviceID: Claim] = [:]
    /// The signed statements of members' runs about each other: the newest few of each device.
    private var statements: [DeviceID: [TwinStatement]] = [:]
    /// The runs that were told, the newest last.
    private var told: [Told] = []

    private static let toldLimit = 32
    private static let statementLimit = 4

    mutating func record(_ claim: UInt64, by peer: DeviceID) {
        let isSame = claims[peer]?.otherRun == claim
        claims[peer] = Claim(otherRun: claim, count: isSame ? (claims[peer]?.count ?? 0) + 1 : 1)
    }

    mutating func doubt(by peer: DeviceID, at now: Tick, _ timing: CoreConfiguration.Timing) {
        if let last = doubts[peer], now < last + timing.twinDoubtEvery { return }
        doubts[peer] = now
        doubtedUntil = now + timing.twinDoubt
    }

    /// True if the peer refused us too often. Both runs come back a few times until each has signed a statement about the
    /// other and has received the other's.
    func isRefused(by peer: DeviceID) -> Bool { (claims[peer]?.count ?? 0) > 3 }

    mutating func record(_ statement: TwinStatement) {
        let known = statements[statement.device, default: []].filter { $0 != statement }
        statements[statement.device] = (known + [statement]).suffix(Self.statementLimit)
    }

    /// Returns the signature of the one run about the other; empty if none was received.
    func proof(of device: DeviceID, run: UInt64, other: UInt64) -> [UInt8] {
        statements[device]?.last { $0.run == run && $0.other == other }?.signature ?? []
    }

    /// True if the run is still to be told. Telling a run ends its session, and it comes back: so each is told once, and once
    /// more with a proof.
    func isNews(to run: UInt64, hasProof: Bool) -> Bool {
        !told.contains { $0.run == run && ($0.hasProof || !hasProof) }
    }

    mutating func recordTold(_ run: UInt64, hasProof: Bool) {
        guard isNews(to: run, hasProof: hasProof) else { return }
        told = (told + [Told(run: run, hasProof: hasProof)]).suffix(Self.toldLimit)
    }
}
