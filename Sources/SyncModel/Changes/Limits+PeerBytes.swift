/// The bounds that a peer's bytes are held to, in one place, except those of counters (`ReplicatedTypes`) and of bulk
/// connections (`BulkLimits`). A value over its limit is an offence of its sender.
extension Limits {
    /// An event's payload, a JSON text.
    package static let payloadBytes = 1 << 20
    /// Names of collections, streams and spaces, and event types, in UTF-8.
    package static let nameBytes = 128
    /// An object's id, in UTF-8.
    package static let objectIDBytes = 256
    /// The maximum size of an attachment's name, in UTF-8: more than a file's name of 255 bytes in any encoding.
    package static let attachmentNameBytes = 1_024
    /// The maximum size of one edit of a field, or of one entry of a schema, in canonical bytes: a value of 1 MiB and what
    /// names it.
    package static let editBytes = payloadBytes + 16_384
    /// A device's label.
    package static let deviceNameBytes = 128
    /// A P-256 SPKI is 91 bytes; room for another curve.
    package static let subjectPublicKeyBytes = 256
    package static let bindingBytes = 256
    /// A member fact with the fields of later versions: it is kept in memory, so it is small.
    package static let memberFactBytes = 4 << 10
    /// Operations' bytes of one change: one payload and what names it.
    package static let operationsBytes = payloadBytes + 65_536
    /// Replicas one change may name in its context.
    package static let contextEntries = 16_384
    /// A whole change in canonical bytes, context included.
    package static let changeBytes = operationsBytes + contextEntries * (ReplicaID.byteCount + 10) + 64
    /// Add-facts count within so many counters of their change; those behind are void.
    package static let admissionsPerChange: UInt64 = 64
    /// An author signs at least this often; a segment is longer only when it is a single change.
    package static let segmentBytes = 256 << 10
    /// The maximum number of changes committed and signed as one group. It is large enough that a bulk load does not wait for
    /// the disk, and small enough that another client's write does not wait long for the group.
    package static let changesPerGroup = 1_024
    /// A session frame, length prefix not counted.
    package static let frameBytes = 1 << 20
    /// A frame before the peer's `Hello` was accepted.
    package static let frameBytesBeforeHello = 4 << 10
    /// Data of one segment in one frame: what is left beside every other field at its longest.
    package static let segmentPartBytes = frameBytes - 512
    /// Data of all segments of a frame in which some are packed, once they are unpacked.
    package static let packedFrameBytes = frameBytes / 2
    /// Segments, or parts of them, in one frame.
    package static let segmentsPerFrame = 4_096
    /// Replicas that one side of a session may say it holds.
    package static let vectorEntries = 65_536
    /// Vector entries in one frame, about 90 bytes each.
    package static let haveEntries = 8_192
    /// Fields of a frame's body: the longest list and a few beside it.
    static let fieldsPerFrame = haveEntries + 64
    /// Rows of acknowledgements, or stamps of them, in one frame.
    package static let acknowledgementsPerFrame = 4_096
    /// The size of one grant of bytes for a want.
    package static let creditBytes: UInt64 = 64 << 20
    /// The maximum number of bytes of early changes that a peer may claim to keep.
    package static let waitingRoomBytes: UInt64 = 1 << 40
    /// The maximum length of a code that tells programs why a session ends.
    package static let codeBytes = 64
    /// A farewell for people, in UTF-8.
    package static let messageBytes = 1_024
    /// A wall clock lies within this of 1970, both ways (285,000 years): it can be multiplied and compared safely.
    package static let wallMilliseconds: Int64 = 1 << 53
    /// The maximum size of what one item of a state delta says of one object, or of one schema. An object has to fit into
    /// memory anyway.
    package static let stateObjectBytes = 64 << 20
    /// The maximum size of any other item: a change's events, or a tip and what its author had seen.
    package static let stateItemBytes = 4 << 20
    /// Runs of births in one item.
    package static let stateBirthRuns = 4_096
    /// Replicas that one vector in a state delta may name.
    package static let stateVectorEntries = 65_536
    /// Replicas that a vector in a frame may name; of more its sender leaves some out, or the vector.
    package static let stateFrameEntries = 8_192
    /// Bytes of a state delta in one frame.
    package static let statePartBytes = 128 << 10
    /// Objects that one question asks about.
    package static let stateAnnouncementsPerFrame = 256
    /// Entries of one presence record: the sessions of a device's clients.
    package static let presenceEntries = 64
    /// The maximum size of the value of one session, a JSON text.
    package static let presenceValueBytes = 1_024
    /// The maximum size of one presence record in canonical bytes, without its signature.
    package static let presenceRecordBytes = 32 << 10
    /// The greatest number of a run: there is always a greater one to go on with.
    package static let presenceRun: UInt64 = 1 << 62
    /// Presence records in one frame.
    package static let presencesPerFrame = 256
    /// Nesting of a JSON text.
    package static let jsonDepth = 128
}
