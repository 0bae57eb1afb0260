package import Logging
package import SyncCore
package import SyncModel
import Synchronization

/// The recent errors by code, for `why`, `status`, `doctor` and metrics. Bounded: one entry a code.
package final class AgentJournal: Sendable {
    package struct Occurrence: Sendable, Hashable {
        package let code: String
        package var lastMilliseconds: Int64
        package var count: Int
    }

    private struct State {
        var occurrences: [String: Occurrence] = [:]
        /// Milliseconds by which each device's clock is ahead of this machine's time since its start.
        var clocks: [DeviceID: Int64] = [:]
        /// The time at which two agents with the identity were last seen.
        var duplicates: [DeviceID: Int64] = [:]
        var diverged: Set<DeviceID> = []
        /// The time at which changes of this device came back.
        var ownReturned: Int64?
        var isRestored = false
        /// The device that showed the other history of each.
        var forks: [ReplicaID: DeviceID] = [:]
        var tookBack: Set<ReplicaID> = []
        /// Devices that began more histories than are taken in.
        var flooding: Set<DeviceID> = []
        /// The ignored revocations by author: members, so there are not many.
        var ignoredRevocations: [DeviceID: IgnoredRevocation] = [:]
        /// The statement that revoked this device, as a member told it.
        var ownRevocation: Dot?
        /// Devices that wrote what this version does not know.
        var later: Set<DeviceID> = []
        /// The time at which each device's session last came up or ended: see `lastSeen`.
        var lastSync: [DeviceID: Int64] = [:]
        var sessions = SessionCounts()
    }

    private let state = Mutex(State())
    /// Codes come from our own enums; a bound all the same.
    private static let limit = 256

    private let own: DeviceID

    package init(own: DeviceID) { self.own = own }

    package func record(code: String) {
        state.withLock { state in
            guard state.occurrences[code] != nil || state.occurrences.count < Self.limit else { return }
            state.occurrences[code, default: Occurrence(code: code, lastMilliseconds: 0, count: 0)].count += 1
            state.occurrences[code]?.lastMilliseconds = WallClock.milliseconds
        }
    }

    /// The occurrences, newest first.
    package var occurrences: [Occurrence] {
        state.withLock {
            $0.occurrences.values.sorted { ($1.lastMilliseconds, $1.code) < ($0.lastMilliseconds, $0.code) }
        }
    }

    /// Milliseconds that each device's clock was ahead of ours when it connected last in this run.
    /// A clock of ours that was set since is counted in.
    package var clockSkews: [DeviceID: Int64] {
        let ahead = WallClock.aheadOfUptime
        return state.withLock { state in state.clocks.mapValues { $0 - ahead } }
    }
    /// True if a device's clock was so far off this one that no events are dropped by it.
    package var isClockDisputed: Bool { clockSkews.values.contains(where: Self.isDispute) }
    /// True for clocks so far apart that one of them must be wrong.
    static func isDispute(_ skew: Int64) -> Bool { abs(skew) > mostSkewMilliseconds }
    private static let mostSkewMilliseconds: Int64 = 300_000
    /// Identities that two live agents have. An agent refused for it tries again every few seconds, so an identity not seen for
    /// a while is single again. Our own stays until this agent starts again: see `isIdentityShared`.
    package var duplicateIdentities: Set<DeviceID> {
        let (now, own) = (WallClock.milliseconds, own)
        return state.withLock { state in
            Set(state.duplicates.filter { $0.key == own || now - $0.value < Self.twinMemoryMilliseconds }.keys)
        }
    }
    /// True if another live agent has our key. Nothing is written here until one of the two has a key of its own: a write to
    /// the wrong one would be on a machine that is about to be put away.
    package var isIdentityShared: Bool { state.withLock { $0.duplicates[own] != nil } }
    private static let twinMemoryMilliseconds: Int64 = 45_000
    /// Changes of this device came back from others in the last day, without a restore that explains it.
    package var haveOwnReturned: Bool {
        let now = WallClock.milliseconds
        return state.withLock { state in
            !state.isRestored && state.ownReturned.map { now - $0 < Self.returnMemoryMilliseconds } ?? false
        }
    }
    private static let returnMemoryMilliseconds: Int64 = 86_400_000
    /// A backup was restored just before this run: that changes come back is what was wanted.
    func expectOwnChanges() { state.withLock { $0.isRestored = true } }
    package var divergedPeers: Set<DeviceID> { state.withLock(\.diverged) }
    package var forks: [ReplicaID: DeviceID] { state.withLock(\.forks) }
    /// Our own replicas that another history replaced in this run.
    package var tookBack: Set<ReplicaID> { state.withLock { [own] in $0.tookBack.filter { $0.device == own } } }
    /// The first ignored revocation of each author in this run, sorted by author.
    package var ignoredRevocations: [IgnoredRevocation] {
        state.withLock { $0.ignoredRevocations.values.sorted { $0.author < $1.author } }
    }
    /// The statement that revoked this device, as a member told it in this run.
    var ownRevocation: Dot? { state.withLock(\.ownRevocation) }
    /// The devices of which operations of a later version came in this run.
    package var laterAuthors: [DeviceID] { state.withLock { $0.later.sorted() } }
    package var floodingDevices: [DeviceID] { state.withLock { $0.flooding.sorted() } }
    package var lastSeen: [DeviceID: Int64] { state.withLock(\.lastSync) }
    package var sessions: SessionCounts { state.withLock(\.sessions) }

    func recordSeen(_ device: DeviceID) {
        state.withLock { $0.lastSync[device] = WallClock.milliseconds }
    }

    package func record(_ report: Report, logger: Logger) {
        switch report {
        case .sessionUp(let device, let name, let endpoint, let version):
            recordSeen(device)
            state.withLock { state in
                state.diverged.remove(device)
                state.sessions.began(with: device)
            }
            logger.notice(
                "A peer connected.",
                metadata: [
                    "peer.id": "\(device.shortID)", "peer.name": "\(name)",
                    "peer.address": "\(endpoint.host):\(endpoint.port)", "peer.version": "\(version)",
                ])
        case .sessionDown(let device, let code):
            recordSeen(device)
            record(code: code)
            state.withLock { $0.sessions.ended(with: device, code: code) }
            logger.notice("A peer left.", metadata: ["peer.id": "\(device.shortID)", "code": "\(code)"])
        case .refused(let device, let reason, let detail):
            record(code: reason.rawValue)
            logger.warning(
                "A session was refused.",
                metadata: [
                    "peer.id": "\(device?.shortID ?? "-")", "code": "\(reason.rawValue)", "detail": "\(detail)",
                ])
        case .peerClock(let device, let wallMilliseconds): recordClock(device, wallMilliseconds, logger)
        case .diverged(let device):
            record(code: "diverged")
            if state.withLock({ $0.diverged.insert(device).inserted }) {
                logger.error(
                    "A peer shows another state, or another history, of what both hold.",
                    metadata: ["peer.id": "\(device.shortID)"])
            }
        case .forked(let replica, let device):
            record(code: "forked")
            state.withLock { $0.forks[replica] = device }
            logger.error(
                "Two histories under one replica were seen.",
                metadata: ["replica": "\(replica)", "peer.id": "\(device.shortID)"])
        case .forkEnded(let replica): state.withLock { $0.forks[replica] = nil }
        case .tookBack(let replica, let device):
            record(code: "history_taken_back")
            state.withLock { state in
                state.forks[replica] = nil
                state.tookBack.insert(replica)
            }
            logger.warning(
                replica.device == own
                    ? "This machine was put back to an earlier moment while it ran; what it did since is done again."
                    : "A device was put back to an earlier moment while it ran; what it holds now was taken over.",
                metadata: [
                    "replica": "\(replica)", "peer.id": "\(device.shortID)", "code": "history_taken_back",
                ])
        case .duplicateIdentity(let device):
            record(code: CloseReason.duplicateIdentity.rawValue)
            let isNews = !duplicateIdentities.contains(device)
            state.withLock { $0.duplicates[device] = WallClock.milliseconds }
            // Said once: they meet again every few seconds.
            guard isNews else { break }
            logger.error(
                device == own
                    ? "Another agent runs with this device's identity; nothing is written here until one has a new one."
                    : "Two agents run with the identity of one device.",
                metadata: ["device.id": "\(device.shortID)", "code": "\(CloseReason.duplicateIdentity.rawValue)"])
        case .ownChangesReturned:
            record(code: "own_changes_returned")
            let isRestored = state.withLock { state in
                state.ownReturned = WallClock.milliseconds
                return state.isRestored
            }
            logger.log(
                level: isRestored ? .notice : .warning,
                "This disk was older than the network; missing changes were recovered.",
                metadata: ["code": "own_changes_returned"])
        case .memberAdmitted(let device):
            logger.notice("A device became a member.", metadata: ["peer.id": "\(device.shortID)"])
        case .revocationIgnored(let ignored): recordIgnored(ignored, logger)
        case .ownRevocationEnded:
            state.withLock { $0.ownRevocation = nil }
            logger.notice("The revocation of this device does not hold any more.")
        case .ownRevocation(let placed, _):
            record(code: CloseReason.revoked.rawValue)
            state.withLock { $0.ownRevocation = placed.dot }
            logger.warning(
                "This device was revoked.",
                metadata: ["peer.id": "\(placed.dot.replica.device.shortID)", "code": "revoked"])
        case .tooManyHistories(let device): recordFlood(of: device, logger)
        case .stateTaken(let device):
            logger.notice("State came in place of changes.", metadata: ["peer.id": "\(device.shortID)"])
        case .storeRefused(let code):
            record(code: code)
            logger.error("The store refuses writes.", metadata: ["code": "\(code)"])
        case .storeRecovered: logger.notice("The store takes writes again.")
        }
    }

    private func recordIgnored(_ revocation: IgnoredRevocation, _ logger: Logger) {
        record(code: "revocation_ignored")
        let isNews = state.withLock { state in
            if state.ignoredRevocations[revocation.author] != nil { return false }
            state.ignoredRevocations[revocation.author] = revocation
            return true
        }
        // Said once of each author: a member that turned bad may write thousands.
        guard isNews else { return }
        logger.warning(
            "A device revoked another one; this has no effect.",
            metadata: [
                "peer.id": "\(revocation.author.shortID)", "device.id": "\(revocation.device.shortID)",
                "code": "revocation_ignored",
            ])
    }

    /// Records devices that wrote operations of a later version; each is reported once.
    func recordLater(_ devices: [DeviceID], logger: Logger) {
        for device in devices where state.withLock({ $0.later.insert(device).inserted }) {
            record(code: "later_operations")
            logger.warning(
                "A device wrote what this version does not know; it is kept and passed on, and not shown.",
                metadata: ["device.id": "\(device.shortID)", "code": "later_operations"])
        }
    }

    private func recordFlood(of device: DeviceID, _ logger: Logger) {
        record(code: "too_many_histories")
        state.withLock { _ = $0.flooding.insert(device) }
        logger.warning(
            "A device begins more histories than are taken in.",
            metadata: ["device.id": "\(device.shortID)", "code": "too_many_histories"])
    }

    func record(_ report: BulkReport, logger: Logger) {
        switch report {
        case .connected(let device):
            logger.info("A bulk connection is up.", metadata: ["peer.id": "\(device.shortID)"])
        case .disconnected(let device, let code):
            logger.info("A bulk connection ended.", metadata: ["peer.id": "\(device.shortID)", "code": "\(code)"])
        case .fetched: logger.debug("A blob arrived.")
        case .wrongBytes(let device, _):
            record(code: "wrong_bytes")
            logger.warning("A peer sent bytes that are not of the blob.", metadata: ["peer.id": "\(device.shortID)"])
        case .slow(let device):
            record(code: "peer_slow")
            logger.info("A peer is slow with blobs.", metadata: ["peer.id": "\(device.shortID)"])
        case .refusedHere(_, let code):
            record(code: code)
            logger.error("A blob could not be kept.", metadata: ["code": "\(code)"])
        case .offence(let device, let code):
            record(code: code)
            logger.warning(
                "A bulk connection was ended.", metadata: ["peer.id": "\(device.shortID)", "code": "\(code)"])
        }
    }

    private func recordClock(_ device: DeviceID, _ wallMilliseconds: Int64, _ logger: Logger) {
        let skew = wallMilliseconds - WallClock.milliseconds
        let ahead = WallClock.aheadOfUptime
        state.withLock { $0.clocks[device] = skew + ahead }
        guard abs(skew) > Self.toleratedSkewMilliseconds else { return }
        record(code: "clock_skew")
        logger.warning(
            "A peer's clock differs from ours.",
            metadata: ["peer.id": "\(device.shortID)", "skew.milliseconds": "\(skew)"])
    }

    /// The difference of clocks beyond which a peer's is reported: a minute.
    package static let toleratedSkewMilliseconds: Int64 = 60_000
}
