import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncStore

/// Brings this device's receipt to the members of the space that it was told to leave, and keeps those of other devices, as
/// objects of the space (`WipeReceipt.collection`). Confined to the agent's event loop.
final class WipeReceipts {
    private unowned let loop: AgentLoop
    private let writer: LocalWriter
    private let directory: String
    /// The wipe that this device has still to tell of.
    private var own: WipeRecord?
    /// Receipts that are not kept yet: this node may still hear of the revocation, or be made a writer.
    private var waiting: [DeviceID: WipeReceipt] = [:]
    /// The revocations whose receipts are kept here, or are being written: a device may bring the same one again and again.
    private var known: Set<Dot> = []

    init(loop: AgentLoop, writer: LocalWriter, directory: String, own: WipeRecord?) {
        self.loop = loop
        self.writer = writer
        self.directory = directory
        self.own = own
        // Where the members of then were met is forgotten with it.
        if let own, own.receipt != nil, own.pending(at: WallClock.milliseconds) == nil {
            try? own.untold.write(in: directory)
        }
    }

    /// Keeps a receipt that a device has brought and signed, once this node knows that it was asked for, and may write. A reader's
    /// goodbye is none that it is kept: the device tells others, too.
    func take(_ receipt: WipeReceipt, of device: DeviceID) {
        guard !known.contains(receipt.statement), let key = loop.core.membership.signingKey(of: device),
            receipt.isSigned(by: key, of: device, in: .home)
        else { return }
        waiting[device] = receipt
        look()
    }

    /// Members, or what is known of them, changed.
    func look() {
        guard !waiting.isEmpty, loop.ownRole >= .writer, !loop.core.cuts.isBarred(loop.core.membership.own) else {
            return
        }
        for (device, receipt) in waiting where loop.core.cuts.hasWiped(device, by: receipt.statement) {
            waiting[device] = nil
            guard known.insert(receipt.statement).inserted else { continue }
            keep(receipt, of: device)
        }
    }

    private func keep(_ receipt: WipeReceipt, of device: DeviceID) {
        loop.loggers.sync.notice(
            "A device deleted what it held, as it was told, and has signed that.",
            metadata: ["device.id": "\(device.shortID)"])
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.store.wipeReceipt(of: device).whenComplete { result in
            switch result {
            case .success(let kept):
                if kept?.statement != receipt.statement { driver.value.write(receipt, of: device) }
            case .failure(let error): driver.value.wait(receipt, of: device, error)
            }
        }
    }

    private func wait(_ receipt: WipeReceipt, of device: DeviceID, _ error: any Error) {
        known.remove(receipt.statement)
        waiting[device] = receipt
        loop.loggers.sync.error("The receipt of a device could not be kept.", metadata: ["error": "\(error)"])
    }

    private func write(_ receipt: WipeReceipt, of device: DeviceID) {
        let written = loop.eventLoop.makePromise(of: Void.self)
        let put = ObjectWrite.put(WipeReceipt.key(of: device), ObjectWrite.Put(fields: receipt.fields))
        written.completeWithTask { [writer] in
            for outcome in try await writer.write([.planned([put])]) { _ = try outcome.get() }
        }
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        written.futureResult.whenFailure { error in driver.value.wait(receipt, of: device, error) }
    }

    /// Records that a device has this one's receipt: it is told no more.
    func recordTaken(by device: DeviceID) {
        guard let record = own?.told(device) else { return }
        own = record
        loop.loggers.sync.notice(
            "A device of the space that was left has the receipt.", metadata: ["device.id": "\(device.shortID)"])
        // Once more is no harm, should that be lost.
        try? record.write(in: directory)
    }
}
