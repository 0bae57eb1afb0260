package import SyncModel

/// A blob that should be here and is not.
package struct BlobWant: Hashable, Sendable {
    package let blob: BlobHash
    /// As the record says that names it, which may be wrong.
    package let layout: BlobLayout
    /// Of the newest record that names it.
    package let stamp: Stamp
    /// How large it may be to be fetched though nobody waits for it, in bytes; nil: as large as it is.
    package let sizeLimit: UInt64?
    /// Whether the disk has begun it already: room was made for it, and the hashes of its chunks are here.
    package let isBegun: Bool

    package init(
        blob: BlobHash, layout: BlobLayout, stamp: Stamp, sizeLimit: UInt64? = nil, isBegun: Bool = false
    ) {
        self.blob = blob
        self.layout = layout
        self.stamp = stamp
        self.sizeLimit = sizeLimit
        self.isBegun = isBegun
    }

    /// Whether it is fetched unasked if it has this size.
    func allows(_ layout: BlobLayout) -> Bool { sizeLimit.map { layout.size <= $0 } ?? true }
}

/// Everything that can happen to the part of an agent that moves the bytes of attachments, in the past tense.
package enum BulkInput: Sendable, Equatable {
    // Of sessions
    /// A session is up with a device that knows bulk connections. `dial` is where to reach it if this side dialled the
    /// session, and so dials the bulk connection, too; nil: the other side does, once it hears `Frame.bulkWanted`.
    case sessionUp(DeviceID, dial: Endpoint?)
    case sessionDown(DeviceID)
    /// The device asks for a bulk connection, over its session.
    case bulkWanted(DeviceID)

    /// A change was made here or came: where changes are, more follow, and people wait for them.
    case changesMoved

    // Of bulk connections
    case opened(ConnectionID, DeviceID)
    case dialFailed(ConnectionID, code: String)
    case received(ConnectionID, BulkFrame, bytes: Int)
    /// Bytes that are no frame.
    case malformed(ConnectionID, code: String)
    /// Bytes of `BulkEffect.send`, as encoded, that left our buffers.
    case written(ConnectionID, bytes: Int)
    case closed(ConnectionID, code: String)

    // What is wanted here
    /// What is missing may have changed: records came or went, a policy, a pin, what was damaged.
    case missingChanged
    /// There may be room for what was refused: the quota is another, or something was removed.
    case roomChanged
    /// The answer to `listMissing`: in the order in which to fetch. With fewer than asked for, these are all.
    case missing(ListID, [BlobWant])
    /// A person waits for it: before all others, whatever the policy.
    case fetch(BlobWant)
    /// Nobody waits for it any more; the policy may still want it.
    case endFetch(BlobHash)
    /// It is not wanted any more: its records went, or it was added here.
    case unwanted(BlobHash)
    /// It is here as a whole now though nobody fetched it, or gone, or damaged: whoever wanted it is told.
    case holdingChanged(BlobHash)

    // Answers of the disk
    /// To `begin`: what of it is here, each chunk checked. Complete: nothing is missing. The layout is the one that the hash was
    /// proven to cover, whatever was asked for.
    case begun(BlobHash, BlobLayout, present: ChunkSet)
    /// To `begin`: the hashes of its chunks are not here, and must be asked for.
    case hashesMissing(BlobHash)
    /// To `begin` with hashes: they are not of this blob.
    case hashesWrong(BlobHash)
    /// To `begin`: the disk or the quota refuses. With `BulkConfiguration.quotaCode` or `diskFullCode` what is smaller goes
    /// on; any other concerns this blob.
    case refused(BlobHash, code: String)
    /// To `write`.
    case chunkWritten(BlobHash, chunk: Int, ChunkOutcome)
    /// To `finish`: all of it is here, durable and readable.
    case finished(BlobHash)
    /// To `finish`: not all of it is what it should be; what is here is looked at again with `begin`.
    case finishFailed(BlobHash, code: String)
    /// To `writeSmall`: which of them were what their hashes say, and are durable now; which were not; `code`: why the
    /// others were not kept.
    case smallWritten(WriteID, right: [BlobHash], wrong: [BlobHash], code: String?)
    /// To `lookUp`: what is held of each; what is not named is not held, or not for that space.
    case lookedUp(ReadID, [BulkFrame.Holding])
    /// To `readHashes`; nil: not held.
    case hashesRead(ReadID, [UInt8]?)
    /// To `readChunk`; nil with the reason.
    case chunkRead(ReadID, [UInt8]?, BulkFrame.Refusal.Reason?)
    /// To `readSmall`: those that are here, by their places in what was asked for; from `next` on it was not looked at.
    case smallRead(ReadID, [BulkFrame.SmallBlobs.Blob], next: Int)

    /// `nextDeadline` is here.
    case deadlinePassed
}

/// What became of a chunk.
package enum ChunkOutcome: Sendable, Hashable {
    case right
    /// The bytes are not of it: whoever sent them is mistaken, or lies.
    case wrong
    /// The disk refused: with `BulkConfiguration.diskFullCode` nothing is fetched for a while.
    case refused(code: String)
}

package struct ListID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

package struct WriteID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
