import NIOCore
import SyncModel

/// Signs this device's presence: at once after a change, at most every 25 ms, and again every 5 s while a value is present, so
/// that the others see that the device lives. Confined to the event loop.
final class PresencePublisher {
    private static let leastGap = TimeAmount.milliseconds(25)
    private static let renewEvery = TimeAmount.seconds(5)

    /// Called with each record.
    var publish: (SignedPresence) -> Void = { _ in }
    private let eventLoop: any EventLoop
    private let board: PresenceBoard
    private let own: DeviceID
    private let sign: ([UInt8]) -> [UInt8]
    private var run: UInt64
    private var sequence: UInt64 = 0
    /// The entries of the newest record.
    private var published: [PresenceRecord.Entry] = []
    private var publishedAt: NIODeadline?
    /// The next look at the board, if it has to wait.
    private var look: Scheduled<Void>?
    private var renewal: Scheduled<Void>?
    private var isStopped = false

    init(eventLoop: any EventLoop, board: PresenceBoard, own: DeviceID, sign: @escaping ([UInt8]) -> [UInt8]) {
        self.eventLoop = eventLoop
        self.board = board
        self.own = own
        self.sign = sign
        run = min(UInt64(clamping: WallClock.milliseconds), Limits.presenceRun)
    }

    /// Handles a change of the board.
    func handleChanged() {
        guard !isStopped, look == nil else { return }
        let now = NIODeadline.now()
        guard let last = publishedAt, last + Self.leastGap > now else { return publishChange() }
        let publisher = NIOLoopBound(self, eventLoop: eventLoop)
        look = eventLoop.scheduleTask(deadline: last + Self.leastGap) {
            publisher.value.look = nil
            publisher.value.publishChange()
        }
    }

    /// Goes on behind a run: peers hold a record of it. From the next record on, which comes within seconds: two devices with one
    /// key would overtake each other without end.
    func renew(beyond run: UInt64) { self.run = max(self.run, PresenceRecord.nextRun(after: run)) }

    /// Says that nothing is present any more; nothing is said afterwards.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        look?.cancel()
        renewal?.cancel()
        if !published.isEmpty { publish([]) }
    }

    private func publishChange() {
        let entries = board.entries
        if !isStopped, entries != published { publish(entries) }
    }

    private func publish(_ entries: [PresenceRecord.Entry]) {
        sequence += 1
        let record = PresenceRecord(device: own, mark: PresenceMark(run: run, sequence: sequence), entries: entries)
        (published, publishedAt) = (record.entries, .now())
        publish(SignedPresence(record, space: .home, sign: sign))
        renewal?.cancel()
        renewal = nil
        guard !isStopped, !entries.isEmpty else { return }
        let publisher = NIOLoopBound(self, eventLoop: eventLoop)
        renewal = eventLoop.scheduleTask(in: Self.renewEvery) {
            guard !publisher.value.isStopped else { return }
            publisher.value.publish(publisher.value.board.entries)
        }
    }
}
