package import SyncModel

/// The settings of the part of an agent that moves the bytes of attachments, given once, at its start.
package struct BulkConfiguration: Sendable, Equatable {
    /// The code of `BulkInput.refused` that says: this one does not fit, a smaller one may.
    package static let quotaCode = "quota_exceeded"
    /// The code that says the same of the disk when a blob is begun, and that nothing fits when bytes are written.
    package static let diskFullCode = "disk_full"

    /// Seeds the jitter of dials.
    package var seed: UInt64
    package var space: SpaceID
    /// Bytes a second over all peers, of what blobs weigh; nil: no limit.
    package var uploadLimit: UInt64?
    package var downloadLimit: UInt64?
    package var timing = Timing()
    package var bounds = Bounds()
    /// Planted bugs; none in an agent that people use.
    package var faults: BulkFaults = []

    package init(
        seed: UInt64, space: SpaceID = .home, uploadLimit: UInt64? = nil, downloadLimit: UInt64? = nil
    ) {
        self.seed = seed
        self.space = space
        self.uploadLimit = uploadLimit
        self.downloadLimit = downloadLimit
    }

    package struct Timing: Sendable, Equatable {
        package var helloDeadline = Tick.Span.seconds(5)
        /// The time without requests or wants after which a connection ends.
        package var idle = Tick.Span.seconds(60)
        package var redialLeast = Tick.Span.seconds(1)
        package var redialGreatest = Tick.Span.seconds(60)
        /// A peer that sent nothing for so long owes what it was asked for to others, if they have it.
        package var stall = Tick.Span.seconds(2)
        /// A peer that was asked and sent nothing at all for so long may as well be gone: the connection ends. Doubled each
        /// time until something comes, since one chunk may take longer.
        package var silence = Tick.Span.seconds(15)
        /// The time a peer has to send chunk hashes that it was asked for. A peer that exceeds it is not asked for them
        /// again.
        package var hashDeadline = Tick.Span.seconds(10)
        /// The time for which a slow peer is asked only for what no other peer has.
        package var slowPause = Tick.Span.seconds(5)
        /// The time for which a peer that has too much to do is left alone.
        package var busyPause = Tick.Span.milliseconds(500)
        /// A chunk that came within this time lets more be asked of its peer at once; one that took four times as long, less.
        package var brisk = Tick.Span.milliseconds(500)
        /// A refusal of the disk or the quota is tried again after this, doubling.
        package var refusalLeast = Tick.Span.seconds(10)
        package var refusalGreatest = Tick.Span.seconds(300)
        /// The time for which bytes give way after a change.
        package var polite = Tick.Span.milliseconds(250)
        /// The time between two lists of what is missing while there is enough to do.
        package var listPause = Tick.Span.milliseconds(200)
        /// The time between two reports to peers, and to users, of how far a blob is.
        package var holdingPause = Tick.Span.seconds(1)
        package var progressPause = Tick.Span.milliseconds(250)
        /// The delay that collects blobs no longer wanted into one message.
        package var unwantPause = Tick.Span.milliseconds(200)
        /// The time within which a peer that has something has announced it.
        package var answerWithin = Tick.Span.seconds(1)
        /// A peer that was wrong about a blob is not asked for it for so long, doubling with each time: it may have been its
        /// disk, and mended since. Each time wastes at most what is asked of one peer at once.
        package var lieLeast = Tick.Span.seconds(60)
        package var lieGreatest = Tick.Span.seconds(3_600)

        package init() {}
    }

    /// Every queue has a bound, in bytes or entries.
    package struct Bounds: Sendable, Equatable {
        /// The bytes asked of one peer and not answered by the disk.
        package var peerWindowBytes = 2 << 20
        /// The bytes asked of all peers, and those that came and are not written.
        package var windowBytes = 6 << 20
        /// Both windows while changes are on their way, which pass the same processor, disk and link and should not wait
        /// there.
        package var politePeerWindowBytes = 256 << 10
        package var politeWindowBytes = 512 << 10
        /// Blobs by policy at a time; the rest is listed again when these run low.
        package var wants = 1_024
        package var blobsAtWork = 8
        package var requestChunks = 4
        /// Hashes of chunks that are being collected, before they can be checked: those of one blob of 16 GiB.
        package var hashBytes = 2 << 20
        /// Sets of chunks that one peer says it holds; beyond, it is asked again when it matters.
        package var holdingBytesPerPeer = 256 << 10
        package var smallRequestBytes = 256 << 10
        package var smallWriteBytes = 1 << 20
        package var smallWrites = 2
        /// The bytes handed to the transport for one peer and not written.
        package var outboundBytes = 512 << 10
        package var readsAhead = 2
        /// Blobs looked up at a time for one peer.
        package var lookUp = 64
        /// Blobs about which a peer was wrong, before its connection ends each time.
        package var liesPerPeer = 1_024

        package init() {}
    }
}

/// Planted bugs: each is a switch in the code that ships, so that a checker that misses it is known to be blind.
package struct BulkFaults: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Windows are not looked at.
    package static let unboundedInFlight = BulkFaults(rawValue: 1 << 0)
    /// Planted fault: what was asked of one peer is asked of the others, too.
    package static let askTwice = BulkFaults(rawValue: 1 << 1)
    /// Planted fault: a peer that sent hashes of chunks that are not the blob's is asked for them again.
    package static let believeHashes = BulkFaults(rawValue: 1 << 2)
    /// Planted fault: a peer that sent wrong bytes of a blob is asked for it again.
    package static let trustLiars = BulkFaults(rawValue: 1 << 3)
    /// Planted fault: answers to a cancelled request are thrown away.
    package static let forgetCancelled = BulkFaults(rawValue: 1 << 4)
    /// Planted fault: of blobs with one hash only the first that is listed is wanted, whatever their sizes.
    package static let believeFirstSize = BulkFaults(rawValue: 1 << 5)
}
