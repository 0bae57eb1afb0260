import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncStore

/// Keeps the keys of daily tags (`DiscoveryKeys`), and makes one on an admin's device once a device was revoked. Confined to the
/// agent's event loop.
final class DiscoveryKeyDriver {
    /// The time after which an admin makes a key that revoked none of the devices that are out: those that did may be gone.
    private static let patience = TimeAmount.seconds(30)
    /// The least time between two keys, and between two looks at what a key may have come with. While nothing comes of it, the time
    /// grows up to three quarters of an hour.
    private static let pause = TimeAmount.seconds(10)
    /// The same between two looks while there is no key for these exclusions: one is on its way.
    private static let stalePause = TimeAmount.seconds(1)
    private static let mostDoublings: Int64 = 8

    private unowned let loop: AgentLoop
    private let writer: LocalWriter
    private let faults: AgentFaults
    private(set) var keys = DiscoveryKeys(own: [], made: [], exclusions: nil)
    /// Called after the keys changed.
    var changed: () -> Void = {}
    /// The keys in the objects of members, as they were read last.
    private var kept: [DeviceID: DiscoveryKey.Kept] = [:]
    private var hasRead = false
    private var isReading = false
    private var asksAgain = false
    private var next: (look: Scheduled<Void>, at: NIODeadline)?
    /// The exclusions for which there is no key, and since when.
    private var stale: (exclusions: DiscoveryKey.Exclusions, since: NIODeadline)?
    /// The keys that were made in vain for these exclusions.
    private var tries: Int64 = 0
    private var triedAt: NIODeadline?
    private var isWriting = false
    private var isStopped = false

    init(loop: AgentLoop, writer: LocalWriter, faults: AgentFaults) {
        self.loop = loop
        self.writer = writer
        self.faults = faults
    }

    func stop() {
        isStopped = true
        next?.look.cancel()
    }

    /// The keys, and nil before they are known.
    var known: DiscoveryKeys? { hasRead || loop.core.cuts.trust.isEmpty ? keys : nil }
    /// The key to announce with; nil before it is known.
    var announced: [UInt8]? { known?.announced }

    /// Handles a change of objects: a key may have come.
    func objectsChanged() {
        if !loop.core.cuts.trust.isEmpty { lookLater(stale == nil ? Self.pause : Self.stalePause) }
    }

    /// Handles a change of members, or of what is known of them, and the end of a day.
    func look() {
        guard !isStopped else { return }
        judge()
        guard !isReading else {
            asksAgain = true
            return
        }
        isReading = true
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let members = loop.core.cuts.trust.isEmpty ? [] : loop.core.membership.members.map(\.device)
        loop.store.discoveryKeys(of: members).whenComplete { result in driver.value.take(result) }
    }

    private func lookLater(_ pause: TimeAmount) {
        let at = NIODeadline.now() + pause
        guard !isStopped, next.map({ at < $0.at }) ?? true else { return }
        next?.look.cancel()
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let look = loop.eventLoop.scheduleTask(deadline: at) {
            driver.value.next = nil
            driver.value.look()
        }
        next = (look, at)
    }

    private func take(_ result: Result<[DeviceID: DiscoveryKey.Kept], any Error>) {
        guard !isStopped else { return }
        isReading = false
        // What was written meanwhile may not be in what was read.
        if asksAgain {
            asksAgain = false
            return look()
        }
        guard case .success(let read) = result else { return lookLater(Self.pause) }
        kept = read
        let isFirst = !hasRead
        hasRead = true
        judge(isNews: isFirst)
        makeIfDue()
    }

    // MARK: What is known

    private var barred: [DeviceID] {
        let cuts = loop.core.cuts
        return loop.core.membership.members.map(\.device).filter { cuts.isBarred($0) }
    }

    /// The places of all statements on each device that is out; nil: none is.
    private var exclusions: DiscoveryKey.Exclusions? {
        let rows = loop.core.cuts.trust.rows
        let statements = barred.map { device in (device, rows.filter { $0.statement.device == device }.map(\.dot)) }
        return statements.isEmpty ? nil : DiscoveryKey.Exclusions(Dictionary(uniqueKeysWithValues: statements))
    }

    private func judge(isNews: Bool = false) {
        let (membership, cuts, exclusions) = (loop.core.membership, loop.core.cuts, exclusions)
        let made = kept.filter { $0.value.isByOwner && cuts.role(of: $0.key, in: membership) == .admin }
        let new = DiscoveryKeys(
            own: membership.members.map(\.fact.discoveryKey), made: made.map(\.value.key),
            former: kept.filter { made[$0.key] == nil }.map(\.value.key), before: keys.announced,
            exclusions: exclusions, forgetsTag: faults.contains(.forgetTag))
        if !new.isStale {
            stale = nil
        } else if let exclusions, stale?.exclusions != exclusions {
            stale = (exclusions, .now())
            tries = 0
        }
        guard new != keys || isNews else { return }
        keys = new
        changed()
    }

    // MARK: Making one

    private static func pause(after times: Int64) -> TimeAmount { pause * (1 << min(times, mostDoublings)) }

    private func makeIfDue() {
        let core = loop.core
        guard let stale, !isWriting, loop.ownRole == .admin, !core.cuts.isBarred(core.membership.own) else { return }
        let now = NIODeadline.now()
        let isEarly = triedAt.map { now - $0 < Self.pause(after: tries) } ?? false
        guard !isEarly, isDue(now - stale.since) else {
            // In longer and longer steps: half of the time that it has lasted.
            let half = TimeAmount.nanoseconds((now - stale.since).nanoseconds / 2)
            return lookLater(min(max(Self.pause, half), Self.pause(after: Self.mostDoublings)))
        }
        triedAt = now
        tries += 1
        make(stale.exclusions)
    }

    /// True if the device revoked one of those that are out, or has waited. A member that takes the key has to hold before it what
    /// keeps each of them out: a statement of the recovery key may have come apart from its history.
    private func isDue(_ waited: TimeAmount) -> Bool {
        let (core, revocations) = (loop.core, barred.map { loop.core.cuts.standingRevocations(of: $0).map(\.dot) })
        let isHeld = revocations.allSatisfy { dots in
            dots.isEmpty || dots.contains { $0.counter < core.held.next(of: $0.replica) }
        }
        let own = core.membership.own
        return isHeld && (waited >= Self.patience || revocations.joined().contains { $0.replica.device == own })
    }

    private func make(_ exclusions: DiscoveryKey.Exclusions) {
        isWriting = true
        let own = loop.core.membership.own
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<DiscoveryKey.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let key = DiscoveryKey(bytes: bytes, exclusions: exclusions, after: kept[own]?.key)
        let put = ObjectWrite.put(DiscoveryKey.objectKey(of: own), ObjectWrite.Put(fields: key.fields))
        let written = loop.eventLoop.makePromise(of: Void.self)
        written.completeWithTask { [writer] in
            for outcome in try await writer.write([.planned([put])]) { _ = try outcome.get() }
        }
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        written.futureResult.whenComplete { result in driver.value.handle(result) }
    }

    private func handle(_ result: Result<Void, any Error>) {
        isWriting = false
        guard !isStopped else { return }
        switch result {
        case .success:
            if tries == 1 {
                loop.loggers.discovery.notice(
                    "The key of the daily tag is replaced: a revoked device knows the old one.")
            }
            look()
        case .failure(let error):
            if tries == 1 {
                loop.loggers.discovery.error(
                    "The key of the daily tag could not be replaced; this is tried again.",
                    metadata: ["error": "\(error)"])
            }
            lookLater(Self.pause(after: tries))
        }
    }
}
