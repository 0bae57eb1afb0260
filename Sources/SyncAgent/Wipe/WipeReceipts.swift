import Foundation
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
    /// The revocations whose receipts are kept here, or are being written: a device may bring the same one again and again.
    private var known: [DeviceID: Dot] = [:]

    init(loop: AgentLoop, writer: LocalWriter, directory: String, own: WipeRecord?) {
        self.loop = loop
        self.writer = writer
        self.directory = directory
        self.own = own
    }

    /// Keeps a receipt that a device has brought, if it asked for none before and the device has signed it. A reader cannot: the
    /// device tells others, too.
    func take(_ receipt: WipeReceipt, of device: DeviceID) {
        let own = loop.core.membership.own
        guard known[device] != receipt.statement, loop.ownRole >= .writer,
            let key = loop.core.membership.signingKey(of: device), receipt.isSigned(by: key, of: device, in: .home),
            let row = loop.core.cuts.trust.row(at: receipt.statement),
            case .revocation(device, _, wipes: true) = row.statement.content, !loop.core.cuts.isBarred(own)
        else { return }
        known[device] = receipt.statement
        loop.logger.notice(
            "A device deleted what it held, as it was told, and has signed that.",
            metadata: ["device.id": "\(device.shortID)"])
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.store.wipeReceipt(of: device).whenSuccess { kept in
            if kept?.statement != receipt.statement { driver.value.write(receipt, of: device) }
        }
    }

    private func write(_ receipt: WipeReceipt, of device: DeviceID) {
        let written = loop.eventLoop.makePromise(of: Void.self)
        let put = ObjectWrite.put(WipeReceipt.key(of: device), ObjectWrite.Put(fields: receipt.fields))
        written.completeWithTask { [writer] in
            for outcome in try await writer.write([.planned([put])]) { _ = try outcome.get() }
        }
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        written.futureResult.whenFailure { error in
            // The device may bring it again.
            driver.value.known[device] = nil
            driver.value.loop.logger.error(
                "The receipt of a device could not be kept.", metadata: ["error": "\(error)"])
        }
    }

    /// Records that a device has this one's receipt: it is told no more.
    func recordTaken(by device: DeviceID) {
        guard let record = own?.told(device) else { return }
        own = record
        loop.logger.notice(
            "A device of the space that was left has the receipt.", metadata: ["device.id": "\(device.shortID)"])
        // Once more is no harm, should that be lost.
        try? Data(record.encoded).write(to: URL(filePath: directory + "/" + StoreWipe.record), options: .atomic)
    }
}
