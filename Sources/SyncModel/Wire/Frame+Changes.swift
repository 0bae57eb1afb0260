extension Frame {
    /// Consecutive segments of one replica: the answer to a `Want`, or a push.
    ///
    /// A segment that does not fit in one frame goes on in the next `Changes` with the same replica and want: every part
    /// repeats the segment's start and end, only the final part carries the signature. A part without signature is the
    /// last of its frame, and its continuation the first of the next; other `Changes` may not come in between, other
    /// frames may. So a receiver holds one unfinished segment a session, of at most `Limits.changeBytes`. Segments that are
    /// packed have, unpacked, at most `Limits.packedFrameBytes` with all others of the frame.
    package struct Changes: Hashable, Sendable {
        package var space: SpaceID
        package var replica: ReplicaID
        /// 0 for a push.
        package var wantID: UInt64
        /// Each begins where the one before ends. Empty only in the last answer to a want.
        package var segments: [SegmentPart]
        /// The want is answered as far as the sender can.
        package var last: Bool
        /// The counter from which on changes of the replica are held, in a last answer without segments. Earlier changes came
        /// as state or were dropped. 0: not stated.
        package var firstHeld: UInt64

        package init(
            space: SpaceID, replica: ReplicaID, wantID: UInt64, segments: [SegmentPart], last: Bool,
            firstHeld: UInt64 = 0
        ) {
            self.space = space
            self.replica = replica
            self.wantID = wantID
            self.segments = segments
            self.last = last
            self.firstHeld = firstHeld
        }
    }

    /// A segment, or a piece of one.
    package struct SegmentPart: Hashable, Sendable {
        /// The start of the whole segment.
        package var start: UInt64
        /// The end of the whole segment; greater than `start`.
        package var end: UInt64
        /// 1 to `Limits.segmentPartBytes` bytes.
        package var bytes: [UInt8]
        /// True if the bytes are to be unpacked first (`PackedChanges`). Only whole segments are packed.
        package var isPacked: Bool
        /// 64 bytes; empty while `bytes` goes on in the next frame.
        package var signature: [UInt8]

        package init(start: UInt64, end: UInt64, bytes: [UInt8], isPacked: Bool = false, signature: [UInt8]) {
            self.start = start
            self.end = end
            self.bytes = bytes
            self.isPacked = isPacked
            self.signature = signature
        }

        /// A whole segment, packed where it may be and that takes less.
        package init(_ segment: Segment, packing: Bool = true) {
            let packed = packing ? PackedChanges.packed(segment.bytes) : nil
            self.init(
                start: segment.start, end: segment.end, bytes: packed ?? segment.bytes, isPacked: packed != nil,
                signature: segment.signature)
        }

        /// True for the final part of its segment.
        package var endsSegment: Bool { !signature.isEmpty }
    }
}

extension Frame.Changes {
    /// The same with nothing packed; at most `Limits.packedFrameBytes`, for a few bytes can stand for many.
    package func unpacked() throws(CodecError) -> Frame.Changes {
        guard segments.contains(where: \.isPacked) else { return self }
        var plain = self
        var room = Limits.packedFrameBytes
        for index in segments.indices {
            if segments[index].isPacked {
                plain.segments[index].bytes = try PackedChanges.unpacked(segments[index].bytes, upTo: room)
                plain.segments[index].isPacked = false
            }
            room -= plain.segments[index].bytes.count
            guard room >= 0 else { throw .outOfRange(field: "segment.packed") }
        }
        return plain
    }
}
