package import SyncModel

/// The effects that the shell must carry out for the bytes of attachments, in order. No effect waits: answers come as
/// `BulkInput`.
///
/// An effect that needs an answer gets exactly one, also after `putAside` and after its connection closed: bytes count as
/// held until the disk has answered. Answers of different blobs may overtake each other.
package enum BulkEffect: Sendable, Equatable {
    /// Dial a bulk connection: `opened` or `dialFailed` follows.
    case dial(ConnectionID, Endpoint)
    /// Ask the device over its session to dial us.
    case askForBulk(DeviceID)
    case send(ConnectionID, BulkFrame)
    /// The peer's `Hello` was accepted: its deadline and the small frame limit end.
    case establish(ConnectionID)
    /// Starts or stops reading frames of the connection: bounded memory, and the limit of what is downloaded.
    case setReading(ConnectionID, Bool)
    /// Close the connection after what was sent is written. `closed` follows in every case.
    case close(ConnectionID, CloseReason)

    /// Lists what should be stored and is not, by the space's policy: at most `limit`, small before large, newest first,
    /// without those in `except`; answer with `missing`.
    case listMissing(ListID, except: [BlobName], limit: Int)

    /// Go on with a blob, or begin it with the hashes of its chunks, if these come to its name (`nil`: as far as they are
    /// here); answer with `begun`, `hashesMissing`, `hashesWrong` or `refused`.
    case begin(BlobName, hashes: [UInt8]?)
    /// Write the chunk; answer with `chunkWritten`.
    case write(BlobName, chunk: Int, [UInt8])
    /// All chunks are here: make it durable and whole; answer with `finished` or `finishFailed`.
    case finish(BlobName)
    /// Stops the work on the blob: what is stored of it stays for later.
    case putAside(BlobName)
    /// Whole small blobs, to be checked and kept in one transaction; answer with `smallWritten`.
    case writeSmall(WriteID, [WholeBlob])

    /// Looks up what is held of these blobs, limited to what a member of the space may see; answer with `lookedUp`.
    case lookUp(ReadID, SpaceID, [BlobName])
    /// Read the hashes of chunks; answer with `hashesRead`.
    case readHashes(ReadID, SpaceID, BlobName, first: Int)
    /// Read the chunk; answer with `chunkRead`.
    case readChunk(ReadID, SpaceID, BlobName, chunk: Int)
    /// Read the small blobs among these that are stored, from the first on, until `BulkLimits.smallFrameBytes` are read or
    /// all were looked at. One is always looked at. Answer with `smallRead`.
    case readSmall(ReadID, SpaceID, [BlobName])

    /// The device said that it holds all of it: to tell people who had it last.
    case recordHolder(BlobName, DeviceID)
    /// Progress for users, at most four times a second for each blob.
    case progress(BlobName, presentBytes: UInt64)
    /// A user waits for the blob (`BulkInput.fetch`), and no connected peer has it, or all have been asked in vain.
    case nobodyHas(BlobName)
    case report(BulkReport)
}

/// A small blob as it came, not checked yet.
package struct WholeBlob: Sendable, Hashable {
    package let name: BlobName
    package let bytes: [UInt8]

    package init(name: BlobName, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// Reports for logs, metrics and `why`; never read back by the core.
package enum BulkReport: Sendable, Equatable {
    /// A bulk connection is up.
    case connected(DeviceID)
    /// The last bulk connection with the device ended.
    case disconnected(DeviceID, code: String)
    /// The blob is stored.
    case fetched(BlobName)
    /// The device sent bytes that are not of the blob; it is not asked for that blob again for a while.
    case wrongBytes(DeviceID, BlobName)
    /// The device did not get on, and others are asked for what it owes.
    case slow(DeviceID)
    /// The disk or the quota; nothing is fetched, or nothing as large, until it is tried again.
    case refusedHere(BlobName, code: String)
    case offence(DeviceID, code: String)
}
