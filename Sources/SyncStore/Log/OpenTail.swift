package import SyncModel

/// Our own commits that are durable and not signed yet: no other device has seen them, so they may still be folded.
///
/// Lives in memory beside the rows, and ends with the process: a tail that a new process finds is sealed as it is. A full
/// tail is folded where that helps, and stays open; else it is sealed. Bounds: `changeLimit` changes, `byteLimit` bytes of
/// them, and as many bytes of the small objects they touched.
package struct OpenTail: Sendable {
    /// Beyond it the tail is folded or sealed, so that sealing is always short.
    package static let changeLimit = 256
    package static let byteLimit = 256 << 10
    /// A commit of more writes than this is a bulk load: folding it later would write it twice.
    package static let writesPerCommit = 32

    /// The log state before the tail.
    package let before: LogState
    package let replica: ReplicaID
    package private(set) var segments: [VerifiedSegment] = []
    /// The objects it touched, as they were before.
    package private(set) var bases: [ObjectKey: StoredObject] = [:]
    /// The large ones, of which no copy is kept: nothing of them is left out when the tail is folded.
    package private(set) var steady: [ObjectKey: Steady] = [:]

    package struct Steady: Sendable {
        package let before: ObjectStanding
        package fileprivate(set) var now: ObjectStanding
        /// The number of visible attachments that the tail adds.
        package fileprivate(set) var attachments: Int64 = 0
    }

    /// Counters of events that went when it was folded, ascending: their arrival numbers stay taken.
    package private(set) var foldedEvents: [UInt64] = []

    private var changeCount = 0
    private var byteCount = 0
    /// The part of `byteCount` that the objects take.
    private var baseByteCount = 0

    package init(_ replica: ReplicaID, before: LogState) {
        self.replica = replica
        self.before = before
    }

    package mutating func add(_ planned: LocalCommit.Planned) {
        for entry in planned.log.entries {
            segments.append(entry.verified)
            changeCount += entry.verified.changeCount
            byteCount += entry.verified.segment.bytes.count
        }
        for entry in planned.objects.changed where bases[entry.object.key] == nil && !entry.dots.isEmpty {
            let standing = entry.object.summary.standing
            if let original = entry.original, steady[entry.object.key] == nil {
                bases[entry.object.key] = original
                byteCount += entry.originalByteCount
                baseByteCount += entry.originalByteCount
            } else {
                var object = steady[entry.object.key] ?? Steady(before: entry.before.standing, now: standing)
                object.now = standing
                object.attachments += entry.attachmentCountChange
                steady[entry.object.key] = object
            }
        }
    }

    package var isFull: Bool { changeCount >= Self.changeLimit || byteCount >= Self.byteLimit }

    /// The tip that is signed.
    package var sealedTip: ReplicaTip { before.tip(of: replica) }

    package var changes: [Change] {
        segments.flatMap { verified in
            var reader = ByteReader(verified.segment.bytes)
            var changes: [Change] = []
            while !reader.isAtEnd {
                guard let view = try? ChangeView(&reader) else { preconditionFailure("a change we wrote reads back") }
                changes.append(Change(view, in: verified.segment.bytes))
            }
            return changes
        }
    }

    package func folding(keeps: Set<ObjectKey> = [], isLatestOnly: @escaping (String) -> Bool) -> Folding {
        Folding(
            changes, of: replica,
            Folding.Rules(
                isUnknown: { bases[$0].map { $0.state == ObjectState() } ?? false }, isLatestOnly: isLatestOnly,
                keeps: keeps, steady: Set(steady.keys)))
    }

    /// True if the tail is full, and folding leaves at most half of it.
    func isFullAndFoldable(isLatestOnly: @escaping (String) -> Bool) -> Bool {
        isFull && baseByteCount <= Self.byteLimit / 2
            && folding(isLatestOnly: isLatestOnly).changes.count <= changeCount / 2
    }

    /// The tail that is left after folding, still open.
    func folded(as sealing: Sealing) -> OpenTail {
        var tail = self
        tail.segments = sealing.log.entries.map(\.verified)
        tail.foldedEvents = sealing.foldedEvents
        tail.changeCount = tail.segments.reduce(0) { $0 + $1.changeCount }
        tail.byteCount = tail.segments.reduce(baseByteCount) { $0 + $1.segment.bytes.count }
        return tail
    }

    /// The planted bug `foldWhatWasSeen`: what was sealed stays in the tail.
    func seen(as sealing: Sealing) -> OpenTail {
        var tail = self
        tail.segments = sealing.log.entries.map(\.verified)
        return tail
    }
}

extension LocalWrite {
    /// True if the commit may stay open. Changes of members, schemas or stream settings are sealed at once, and so is a bulk
    /// load.
    package static func mayStayOpen(_ writes: [LocalWrite]) -> Bool {
        writes.count <= OpenTail.writesPerCommit && writes.allSatisfy(\.mayStayOpen)
    }

    private var mayStayOpen: Bool {
        switch self {
        case .operations(let operations):
            operations.allSatisfy { operation in
                switch operation {
                case .appendEvent, .editObject, .editAttachments, .deleteObject, .keepObject, .void: true
                case .addMember, .editSchema, .setStream, .cut, .markRewriting, .editAgain, .settleCut, .dropEvents,
                    .trust, .acceptWork, .unknown:
                    false
                }
            }
        case .retire, .trust, .again: false
        case .once(_, let write), .prepared(let write, _): write.mayStayOpen
        case .planned(let writes, row: _):
            writes.allSatisfy { write in
                switch write {
                case .put, .edit, .delete, .resolve, .attach, .detach, .appendEvent: true
                case .convert, .setSchema, .setStream, .accept: false
                }
            }
        }
    }
}
