import NIOCore
import SyncModel

/// The reports of peers that they hold a blob, written in groups: each alone would cost a synced transaction, and they serve
/// only to inform people. Confined to the event loop.
final class HolderNotes {
    private static let limit = 1_024
    private static let pause = TimeAmount.seconds(1)

    private let store: StoreDriver
    private let eventLoop: any EventLoop
    private var pending: [DeviceID: [BlobName]] = [:]
    private var count = 0
    private var task: Scheduled<Void>?

    init(store: StoreDriver, eventLoop: any EventLoop) {
        self.store = store
        self.eventLoop = eventLoop
    }

    func record(_ blob: BlobName, _ device: DeviceID) {
        pending[device, default: []].append(blob)
        count += 1
        if count >= Self.limit { return write() }
        guard task == nil else { return }
        let notes = NIOLoopBound(self, eventLoop: eventLoop)
        task = eventLoop.scheduleTask(in: Self.pause) { notes.value.write() }
    }

    func write() {
        task?.cancel()
        task = nil
        guard count > 0 else { return }
        for (device, blobs) in pending { store.recordHolders(blobs, device) }
        pending = [:]
        count = 0
    }
}
