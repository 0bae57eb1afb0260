import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncStore

/// Revokes the members whose time is over (`MemberFact.until`), while this device is an admin.
///
/// Its clock decides when that is said, and what was said holds on every node: no node judges a member by its own clock. Several
/// admins may say the same. Confined to the agent's event loop.
final class MembershipEnds {
    /// The longest time between two looks: clocks are set, and machines sleep.
    private static let longestPause: Int64 = 60_000

    private unowned let loop: AgentLoop
    private let writer: LocalWriter
    private var next: Scheduled<Void>?
    private var isWriting = false
    /// The ends that this run of the agent has said, whatever became of it.
    private var said: [DeviceID: Int64] = [:]
    private var isStopped = false

    init(loop: AgentLoop, writer: LocalWriter) {
        self.loop = loop
        self.writer = writer
    }

    /// Members or roles changed, in the store at least.
    func handleChanged() {
        if !isStopped { schedule(0) }
    }

    /// Revokes whose time is over, and looks again when that of the next one is.
    func look() {
        guard !isStopped, !isWriting else { return }
        let now = WallClock.milliseconds
        let ends = ends()
        let over = ends.filter { $0.milliseconds <= now }.prefix(Limits.changesPerGroup)
        guard over.isEmpty else { return revoke(Array(over)) }
        schedule((ends.map { $0.milliseconds - now } + [Self.longestPause]).min() ?? Self.longestPause)
    }

    func stop() {
        isStopped = true
        next?.cancel()
    }

    /// The members whose time this device has to end, sooner or later. None before another member has said its time, and while
    /// clocks differ by minutes: a wrong one would put members out.
    private func ends() -> [(device: DeviceID, milliseconds: Int64)] {
        guard !loop.journal.clockSkews.isEmpty, !loop.journal.isClockDisputed, loop.ownRole == .admin,
            let state = try? loop.store.store.logState()
        else { return [] }
        let own = loop.core.membership.own
        // As in a person's order: while members follow another founder, only those can be let go.
        let others = loop.core.membership.followers(besides: loop.founder).filter { !state.cuts.isAway($0) }
        return state.members.limited.compactMap { device in
            guard device != own, others.isEmpty || others.contains(device), !state.cuts.isRevoked(device),
                let until = state.cuts.until(of: device, in: state.members), !hasSpoken(of: device, state)
            else { return nil }
            let end = WallClock.milliseconds(atSeconds: until)
            return said[device] == end ? nil : (device, end)
        }
    }

    /// True if this device revoked the other one, knowing all its invitations. Then another statement holds, and so it stays.
    private func hasSpoken(of device: DeviceID, _ state: LogState) -> Bool {
        let invitations = state.members.invitations(of: device)
        return state.cuts.trust.rows.contains { row in
            row.dot.replica.device == loop.core.membership.own && row.statement.device == device
                && row.statement.isRevocation && invitations.allSatisfy { row.knows.covers($0.dot) }
        }
    }

    private func revoke(_ over: [(device: DeviceID, milliseconds: Int64)]) {
        isWriting = true
        let ended = loop.eventLoop.makePromise(of: Void.self)
        let writes = over.map { LocalWrite.trust(TrustOrder(.revocation($0.device, wipes: false))) }
        ended.completeWithTask { [writer] in
            for outcome in try await writer.write(writes) { _ = try outcome.get() }
        }
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        ended.futureResult.whenComplete { result in driver.value.handle(result, over) }
    }

    private func handle(_ result: Result<Void, any Error>, _ over: [(device: DeviceID, milliseconds: Int64)]) {
        isWriting = false
        guard !isStopped else { return }
        switch result {
        case .success:
            for (device, milliseconds) in over {
                said[device] = milliseconds
                loop.logger.notice(
                    "The time of a member was over: it was revoked.", metadata: ["device.id": "\(device.shortID)"])
            }
            look()
        case .failure(let error):
            loop.logger.error(
                "A member whose time is over could not be revoked.", metadata: ["error": "\(error)"])
            schedule(Self.longestPause)
        }
    }

    private func schedule(_ milliseconds: Int64) {
        next?.cancel()
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        next = loop.eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { driver.value.look() }
    }
}
