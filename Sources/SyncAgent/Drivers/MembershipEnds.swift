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

    /// A member whose time ends by itself.
    private struct Guest {
        let device: DeviceID
        let milliseconds: Int64
        /// Its invitations, by dot.
        let invitations: Set<Dot>
    }

    private unowned let loop: AgentLoop
    private let writer: LocalWriter
    private var next: Scheduled<Void>?
    private var isWriting = false
    /// The invitations of each member to whose end this run of the agent has spoken, whatever became of it.
    private var said: [DeviceID: Set<Dot>] = [:]
    private var isStopped = false

    init(loop: AgentLoop, writer: LocalWriter) {
        self.loop = loop
        self.writer = writer
    }

    /// Members or roles changed, in the store at least, or a peer said its time.
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

    /// The members whose time this device has to end, sooner or later.
    private func ends() -> [Guest] {
        guard loop.ownRole == .admin, let state = try? loop.store.store.logState() else { return [] }
        let own = loop.core.membership.own
        let guests = state.members.limited.compactMap { device -> Guest? in
            guard let until = state.cuts.until(of: device, in: state.members) else { return nil }
            return Guest(
                device: device, milliseconds: WallClock.milliseconds(atSeconds: until),
                invitations: Set(state.members.invitations(of: device).map(\.dot)))
        }
        guard isClockConfirmed(Set(guests.map(\.device))) else { return [] }
        // As in a person's order: while members follow another founder, only those can be let go.
        let others = loop.core.membership.followers(besides: loop.founder).filter { !state.cuts.isAway($0) }
        return guests.filter { guest in
            guest.device != own && (others.isEmpty || others.contains(guest.device))
                && !state.cuts.isRevoked(guest.device) && !hasSpoken(of: guest, state)
                && !guest.invitations.isSubset(of: said[guest.device] ?? [])
        }
    }

    /// True if connected members say about the same time as this device: a wrong clock would put members out. A guest gains by a
    /// wrong one, so its time counts only while no other member is connected.
    private func isClockConfirmed(_ guests: Set<DeviceID>) -> Bool {
        let connected = loop.core.connectedDevices
        let skews = loop.journal.clockSkews.filter { connected.contains($0.key) }
        let others = skews.filter { !guests.contains($0.key) }
        let counted = others.isEmpty ? skews : others
        return !counted.isEmpty && !counted.values.contains(where: AgentJournal.isDispute)
    }

    /// True if this device revoked the other one, knowing all its invitations. Then another statement holds, and so it stays.
    private func hasSpoken(of guest: Guest, _ state: LogState) -> Bool {
        state.cuts.trust.rows.contains { row in
            row.dot.replica.device == loop.core.membership.own && row.statement.device == guest.device
                && row.statement.isRevocation && guest.invitations.allSatisfy { row.knows.covers($0) }
        }
    }

    private func revoke(_ over: [Guest]) {
        isWriting = true
        let ended = loop.eventLoop.makePromise(of: Void.self)
        let writes = over.map { LocalWrite.trust(TrustOrder(.revocation($0.device, wipes: false))) }
        ended.completeWithTask { [writer] in
            for outcome in try await writer.write(writes) { _ = try outcome.get() }
        }
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        ended.futureResult.whenComplete { result in driver.value.handle(result, over) }
    }

    private func handle(_ result: Result<Void, any Error>, _ over: [Guest]) {
        isWriting = false
        guard !isStopped else { return }
        switch result {
        case .success:
            for guest in over {
                said[guest.device] = guest.invitations
                loop.logger.notice(
                    "The time of a member was over: it was revoked.",
                    metadata: ["device.id": "\(guest.device.shortID)"])
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
