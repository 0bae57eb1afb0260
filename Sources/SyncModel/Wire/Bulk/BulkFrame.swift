/// A message of a bulk connection, on which the bytes of attachments travel, so that changes never wait behind them.
/// PROTOCOL.md "Bulk connections" says which may be sent when.
///
/// Both sides ask and both sides serve. `BulkFrameCodec` is the only way in and out, and it checks every bound: a frame that
/// was decoded holds what its fields promise.
package enum BulkFrame: Hashable, Sendable {
    case hello(Hello)
    case want(Want)
    case unwant(Unwant)
    case holding(Holding)
    case hashesRequest(HashesRequest)
    case hashes(Hashes)
    case request(Request)
    case cancel(Cancel)
    case chunk(Chunk)
    case smallRequest(SmallRequest)
    case smallBlobs(SmallBlobs)
    case refusal(Refusal)
    case goodbye(Frame.Goodbye)
}

extension BulkFrame {
    /// The first frame, each way.
    package struct Hello: Hashable, Sendable {
        /// The greatest that this side speaks, from 1 on; both go on with the lesser of the two.
        package var version: UInt32
        /// Bits that this side understands; none so far.
        package var features: UInt64

        package init(version: UInt32, features: UInt64) {
            self.version = version
            self.features = features
        }
    }

    /// "Tell me what you hold of these, now and whenever it changes." Answered by `Holding` for each of which anything is
    /// held, at once; for the others when some of it has come.
    package struct Want: Hashable, Sendable {
        package var space: SpaceID
        /// 1 to `BulkLimits.blobsPerFrame`, no two the same.
        package var blobs: [BlobName]

        package init(space: SpaceID, blobs: [BlobName]) {
            self.space = space
            self.blobs = blobs
        }
    }

    /// "I need to hear no more of these."
    package struct Unwant: Hashable, Sendable {
        package var blobs: [BlobName]

        package init(blobs: [BlobName]) { self.blobs = blobs }
    }

    /// The part of a wanted blob that the sender holds.
    package struct Holding: Hashable, Sendable {
        package enum Part: Hashable, Sendable {
            /// The blob is not held any more: it was removed, or found damaged.
            case nothing
            /// The sender holds these chunks of it, at least one; the set counts the chunks of the blob.
            case chunks(ChunkSet)
            case all
        }

        package var blob: BlobName
        package var part: Part

        package init(blob: BlobName, part: Part) {
            self.blob = blob
            self.part = part
        }
    }

    /// "What are the hashes of its chunks, from this one on?" Answered by one `Hashes`, or `Refusal`.
    package struct HashesRequest: Hashable, Sendable {
        package var id: UInt64
        package var space: SpaceID
        package var blob: BlobName
        /// A multiple of `BulkLimits.hashesPerFrame`.
        package var first: UInt32

        package init(id: UInt64, space: SpaceID, blob: BlobName, first: UInt32) {
            self.id = id
            self.space = space
            self.blob = blob
            self.first = first
        }
    }

    /// `BulkLimits.hashesPerFrame` of them, fewer at the end of the blob.
    package struct Hashes: Hashable, Sendable {
        package var id: UInt64
        /// 32 bytes for each chunk. Nothing is believed of them before all come to the blob's hash.
        package var bytes: [UInt8]

        package init(id: UInt64, bytes: [UInt8]) {
            self.id = id
            self.bytes = bytes
        }
    }

    /// "Send me these chunks." Answered by a `Chunk` for each, in order, or a `Refusal` for what is left.
    package struct Request: Hashable, Sendable {
        /// The request's id, among all requests of a connection and direction: each is greater than the one before, from 1
        /// on.
        package var id: UInt64
        package var space: SpaceID
        package var blob: BlobName
        package var first: UInt32
        /// 1 to `BulkLimits.chunksPerRequest`.
        package var count: UInt32

        package init(id: UInt64, space: SpaceID, blob: BlobName, first: UInt32, count: UInt32) {
            self.id = id
            self.space = space
            self.blob = blob
            self.first = first
            self.count = count
        }
    }

    /// "Send no more of this request." What is under way may still come.
    package struct Cancel: Hashable, Sendable {
        package var id: UInt64

        package init(id: UInt64) { self.id = id }
    }

    package struct Chunk: Hashable, Sendable {
        package var id: UInt64
        package var index: UInt32
        /// 1 to `BlobLayout.chunkBytes`.
        package var bytes: [UInt8]

        package init(id: UInt64, index: UInt32, bytes: [UInt8]) {
            self.id = id
            self.index = index
            self.bytes = bytes
        }
    }

    /// "Send me these whole blobs", all of which are small. Answered by `SmallBlobs`, as many as it takes; the last says so.
    package struct SmallRequest: Hashable, Sendable {
        package var id: UInt64
        package var space: SpaceID
        /// 1 to `BulkLimits.blobsPerFrame`, each at most `BulkLimits.smallBytes`.
        package var blobs: [BlobName]

        package init(id: UInt64, space: SpaceID, blobs: [BlobName]) {
            self.id = id
            self.space = space
            self.blobs = blobs
        }
    }

    package struct SmallBlobs: Hashable, Sendable {
        package struct Blob: Hashable, Sendable {
            /// The index of the blob in the request; each is sent at most once.
            package var index: UInt32
            package var bytes: [UInt8]

            package init(index: UInt32, bytes: [UInt8]) {
                self.index = index
                self.bytes = bytes
            }
        }

        package var id: UInt64
        package var blobs: [Blob]
        /// True if nothing more comes for this request. Blobs that were not sent are not held, and count as wanted from now
        /// on.
        package var isLast: Bool

        package init(id: UInt64, blobs: [Blob], isLast: Bool) {
            self.id = id
            self.blobs = blobs
            self.isLast = isLast
        }
    }

    /// The rest of a request is not answered.
    package struct Refusal: Hashable, Sendable {
        package enum Reason: UInt8, Hashable, Sendable, CaseIterable {
            /// The blob is not held, or not any more.
            case notHeld = 1
            /// The blob is named by no record that the asking device may see.
            case notAllowed = 2
            /// The disk does not give it.
            case unreadable = 3
            /// Too many requests are open.
            case busy = 4
        }

        package var id: UInt64
        package var reason: Reason

        package init(id: UInt64, reason: Reason) {
            self.id = id
            self.reason = reason
        }
    }
}
