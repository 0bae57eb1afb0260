package import SyncModel

/// A blob that should be here and is not.
package struct BlobWant: Hashable, Sendable {
    package let blob: BlobName
    /// The stamp of the newest record that names the blob.
    package let stamp: Stamp
    /// True if the disk has begun it already: room was made for it, and the hashes of its chunks are stored.
    package let isBegun: Bool

    package init(blob: BlobName, stamp: Stamp, isBegun: Bool = false) {
        self.blob = blob
        self.stamp = stamp
        self.isBegun = isBegun
    }
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
    /// The missing blobs may have changed: records came or went, a policy, a pin, or damage.
    case missingChanged
    /// Room may exist for what was refused: the quota changed, or something was removed.
    case roomChanged
    /// The answer to `listMissing`: in the order in which to fetch. With fewer than asked for, these are all.
    case missing(ListID, [BlobWant])
    /// A person waits for it: before all others, whatever the policy.
    case fetch(BlobWant)
    /// The end of a user's wait for the blob. The policy may still want it.
    case endFetch(BlobName)
    /// The blob is not wanted any more: its records went, or it was added on this device.
    case unwanted(BlobName)
    /// The blob became complete without being fetched, or is gone, or damaged. Peers that want it are told.
    case holdingChanged(BlobName)

    /// The limits in bytes a second are these from now on; nil: as much as the link takes.
    case limitsChanged(upload: UInt64?, download: UInt64?)

    // Answers of the disk
    /// Answer to `begin`: the stored chunks, each checked. Complete means that no chunk is missing.
    case begun(BlobName, present: ChunkSet)
    /// Answer to `begin`: the hashes of the blob's chunks are not stored and must be asked for.
    case hashesMissing(BlobName)
    /// Answer to `begin` with hashes: they are not of this blob.
    case hashesWrong(BlobName)
    /// Answer to `begin`: the disk or the quota refuses. With `BulkConfiguration.quotaCode` or `diskFullCode` smaller blobs
    /// go on. Any other code concerns this blob.
    case refused(BlobName, code: String)
    /// Answer to `write`.
    case chunkWritten(BlobName, chunk: Int, ChunkOutcome)
    /// Answer to `finish`: all of the blob is stored, durable and readable.
    case finished(BlobName)
    /// Answer to `finish`: some bytes are wrong. What is stored is looked at again with `begin`.
    case finishFailed(BlobName, code: String)
    /// Answer to `writeSmall`: `right` match their names and are durable now, `wrong` do not match. `code` is the reason why
    /// the others were not kept.
    case smallWritten(WriteID, right: [BlobName], wrong: [BlobName], code: String?)
    /// Answer to `lookUp`: the holding of each blob. A blob without an entry is not held, or not for that space.
    case lookedUp(ReadID, [BulkFrame.Holding])
    /// Answer to `readHashes`; nil: not held.
    case hashesRead(ReadID, [UInt8]?)
    /// Answer to `readChunk`; nil with the reason.
    case chunkRead(ReadID, [UInt8]?, BulkFrame.Refusal.Reason?)
    /// Answer to `readSmall`: the stored blobs, by their places in the request. From `next` on nothing was looked at.
    case smallRead(ReadID, [BulkFrame.SmallBlobs.Blob], next: Int)

    /// The time of `nextDeadline` has come.
    case deadlinePassed
}

/// The outcome of writing a chunk.
package enum ChunkOutcome: Sendable, Hashable {
    case right
    /// The bytes are not of the chunk: the peer that sent them is mistaken, or lies.
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
