package import SyncModel

/// What the shell must do for the bytes of attachments, in order. Nothing waits: answers come as `BulkInput`.
///
/// What needs an answer gets exactly one, also after `putAside` and after its connection closed: bytes count as held
/// until the disk has answered. Answers of different blobs may overtake each other.
package enum BulkEffect: Sendable, Equatable {
    /// Dial a bulk connection: `opened` or `dialFailed` follows.
    case dial(ConnectionID, Endpoint)
    /// Ask the device over its session to dial us.
    case askForBulk(DeviceID)
    case send(ConnectionID, BulkFrame)
    /// The peer's `Hello` was accepted: its deadline and the small frame limit end.
    case establish(ConnectionID)
    /// Whether frames of it are read: bounded memory, and the limit of what is downloaded.
    case setReading(ConnectionID, Bool)
    /// After what was sent is written, close. `closed` follows, also then.
    case close(ConnectionID, CloseReason)

    /// What should be here and is not, by the space's policy: at most `limit`, small before large, newest first, those in
    /// `except` left out; answer with `missing`.
    case listMissing(ListID, except: [BlobHash], limit: Int)

    /// Go on with a blob, or begin it with the hashes of its chunks, if these and the layout come to its hash (`nil`: as far as
    /// they are here, with whatever layout); answer with `begun`,
    /// `hashesMissing`, `hashesWrong` or `refused`.
    case begin(BlobHash, BlobLayout, hashes: [UInt8]?)
    /// Answer with `chunkWritten`.
    case write(BlobHash, chunk: Int, [UInt8])
    /// All chunks are here: make it durable and whole; answer with `finished` or `finishFailed`.
    case finish(BlobHash)
    /// It is not worked on any more: what is here of it stays for later.
    case putAside(BlobHash)
    /// Whole small blobs, to be checked and kept in one transaction; answer with `smallWritten`.
    case writeSmall(WriteID, [WholeBlob])

    /// What is held of these, of what a member of the space may see; answer with `lookedUp`.
    case lookUp(ReadID, SpaceID, [BlobHash])
    /// Answer with `hashesRead`.
    case readHashes(ReadID, SpaceID, BlobHash, first: Int)
    /// Answer with `chunkRead`.
    case readChunk(ReadID, SpaceID, BlobHash, chunk: Int)
    /// Those that are here and small, from the first on, until `BulkLimits.smallFrameBytes` are read or all were looked
    /// at; one is always looked at. Answer with `smallRead`.
    case readSmall(ReadID, SpaceID, [BlobHash])

    /// The device said that it holds all of it: to tell people who had it last.
    case noteHolder(BlobHash, DeviceID)
    /// For people: how far it is. At most four times a second for each blob.
    case progress(BlobHash, presentBytes: UInt64)
    /// Somebody waits for it (`BulkInput.fetch`), and nobody who is here has it, or they all have been asked in vain.
    case nobodyHas(BlobHash)
    case report(BulkReport)
}

/// A small blob as it came, not checked yet.
package struct WholeBlob: Sendable, Hashable {
    package let hash: BlobHash
    package let bytes: [UInt8]

    package init(hash: BlobHash, bytes: [UInt8]) {
        self.hash = hash
        self.bytes = bytes
    }
}

/// For logs, metrics and `why`; never read back by the core.
package enum BulkReport: Sendable, Equatable {
    /// A bulk connection is up.
    case connected(DeviceID)
    /// No bulk connection is up with the device any more.
    case disconnected(DeviceID, code: String)
    /// It is here.
    case fetched(BlobHash)
    /// The device sent bytes that are not of the blob, or said that it is of another size than it is; it is not asked for that
    /// blob again for a while.
    case wrongBytes(DeviceID, BlobHash)
    /// The device did not get on, and others are asked for what it owes.
    case slow(DeviceID)
    /// The disk or the quota; nothing is fetched, or nothing as large, until it is tried again.
    case refusedHere(BlobHash, code: String)
    case offence(DeviceID, code: String)
}
