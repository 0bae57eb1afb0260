/// Consecutive changes as they travel: what follows from the change before is not said again.
///
/// Their canonical bytes are what is stored, hashed and signed; these are made for a frame and taken apart on the other
/// side, byte for byte. A letter typed behind another takes three or four bytes in place of forty, of a series of events
/// what differs. Nothing is searched for: a change is compared with the one before it and with nothing else. Layout in
/// PROTOCOL.md "Packed changes".
package enum PackedChanges {
    /// The first byte of a change that is not the first.
    enum Mark {
        /// The mask of the two lowest bits: the form of the operations.
        static let operations: UInt8 = 0b11
        /// The form of any operations: their length, then their bytes.
        static let whole: UInt8 = 0
        /// The form of one operation of the same kind and span as the one before: the number of bytes that its body shares at
        /// the beginning and at the end, and the bytes between them.
        static let patched: UInt8 = 1
        /// Goes on typing: one byte of UTF-8.
        static let letter: UInt8 = 2
        /// Goes on typing: text with length.
        static let letters: UInt8 = 3
        /// The stamp is said by what it is above the one before. Without it by its milliseconds alone, counter 0.
        static let stampCounts: UInt8 = 4
        /// The distance from the stamp to the wall clock follows. Without this bit it is the same as before.
        static let wallMoved: UInt8 = 8
        static let known: UInt8 = 15
    }

    /// The parts of a change that the next change is compared with.
    private struct Said {
        var end: UInt64
        var stamp: UInt64
        /// The distance from the stamp to the wall clock, as in the header.
        var zigzagWall: UInt64
        /// The change's operation; nil if it has more than one.
        var operation: OperationView?

        init(end: UInt64, stamp: UInt64, zigzagWall: UInt64, operation: OperationView?) {
            self.end = end
            self.stamp = stamp
            self.zigzagWall = zigzagWall
            self.operation = operation
        }

        init(_ view: ChangeView, in bytes: [UInt8]) {
            var reader = ByteReader(bytes, view.operations)
            let first = try? OperationView(&reader)
            self.init(
                end: view.end, stamp: view.stamp.rawValue, zigzagWall: view.zigzagWall,
                operation: reader.isAtEnd ? first : nil)
        }
    }
}

// MARK: Packing

extension PackedChanges {
    /// Nil where that takes no less, and for anything but consecutive changes of which only the first has a context.
    package static func packed(_ bytes: [UInt8]) -> [UInt8]? {
        var reader = ByteReader(bytes)
        guard let first = try? ChangeView(&reader), !reader.isAtEnd else { return nil }
        var packed = Array(bytes[first.range])
        packed.reserveCapacity(bytes.count / 2)
        var previous = Said(first, in: bytes)
        var typing = previous.operation.flatMap { TypedOperation($0, in: bytes) }
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader), view.start == previous.end, view.context.isEmpty,
                view.stamp.rawValue > previous.stamp
            else { return nil }
            let next = Said(view, in: bytes)
            let typed = next.operation.flatMap { TypedOperation($0, in: bytes) }
            let text = typing?.text(goingOnWith: typed, at: previous.end, as: bytes[view.operations])
            append(next, view.operations, typing: text, after: previous, of: bytes, to: &packed)
            (previous, typing) = (next, typed)
        }
        return packed.count < bytes.count ? packed : nil
    }

    private static func append(
        _ next: Said, _ operations: Range<Int>, typing text: String.UTF8View?, after previous: Said, of bytes: [UInt8],
        to packed: inout [UInt8]
    ) {
        let mark = packed.count
        packed.append(0)
        if next.stamp & 0xffff == 0, next.stamp >> 16 > previous.stamp >> 16 {
            packed.append(varint: next.stamp >> 16 - previous.stamp >> 16)
        } else {
            packed[mark] |= Mark.stampCounts
            packed.append(varint: next.stamp - previous.stamp)
        }
        if next.zigzagWall != previous.zigzagWall {
            packed[mark] |= Mark.wallMoved
            packed.append(varint: next.zigzagWall)
        }
        if let text {
            packed[mark] |= text.count == 1 ? Mark.letter : Mark.letters
            if text.count > 1 { packed.append(varint: UInt64(text.count)) }
            packed.append(contentsOf: text)
            return
        }
        if let before = previous.operation, let operation = next.operation,
            operation.kind == before.kind, operation.span == before.span
        {
            let (head, tail) = bytes.commonEnds(before.body, operation.body)
            let middle = operation.body.lowerBound + head..<operation.body.upperBound - tail
            if head + tail > 6 {
                packed[mark] |= Mark.patched
                packed.append(varint: UInt64(head))
                packed.append(varint: UInt64(tail))
                packed.append(lengthPrefixed: bytes[middle])
                return
            }
        }
        packed.append(lengthPrefixed: bytes[operations])
    }
}

extension [UInt8] {
    /// Returns the number of bytes with which two ranges begin alike, and the number of the remaining bytes with which they
    /// end alike.
    fileprivate func commonEnds(_ left: Range<Int>, _ right: Range<Int>) -> (head: Int, tail: Int) {
        withUnsafeBufferPointer { bytes in
            let most = Swift.min(left.count, right.count)
            var head = 0
            while head < most, unsafe bytes[left.lowerBound + head] == bytes[right.lowerBound + head] { head += 1 }
            var tail = 0
            while tail < most - head,
                unsafe bytes[left.upperBound - 1 - tail] == bytes[right.upperBound - 1 - tail]
            { tail += 1 }
            return (head, tail)
        }
    }
}

extension OperationView {
    fileprivate func moved(by distance: Int) -> OperationView {
        OperationView(kind: kind, span: span, body: body.lowerBound + distance..<body.upperBound + distance)
    }
}

// MARK: Unpacking

extension PackedChanges {
    /// The changes' canonical bytes, at most `limit`. Bytes come from peers: never traps, and costs no more than the
    /// limit allows. Whether the changes hold is for the segment to say.
    package static func unpacked(_ packed: [UInt8], upTo limit: Int) throws(CodecError) -> [UInt8] {
        var reader = ByteReader(packed)
        let first = try ChangeView(&reader)
        guard first.range.count <= limit else { throw .outOfRange(field: "packed.length") }
        var bytes = Array(packed[first.range])
        var previous = Said(first, in: bytes)
        // The typing that the next change may continue. It is nil until a change does: most changes are not looked into.
        var typing: TypedOperation?
        var operations: [UInt8] = []
        while !reader.isAtEnd {
            let mark = try reader.byte()
            guard mark & ~Mark.known == 0 else { throw .outOfRange(field: "packed.mark") }
            let stamp = try stamp(&reader, mark, after: previous.stamp)
            let wall = mark & Mark.wallMoved == 0 ? previous.zigzagWall : try reader.varint()
            operations.removeAll(keepingCapacity: true)
            if mark & Mark.operations < Mark.letter {
                typing = nil
            } else if typing == nil {
                typing = previous.operation.flatMap { TypedOperation($0, in: bytes) }
            }
            try append(&reader, mark, typing, after: previous, in: bytes, upTo: limit - bytes.count, to: &operations)
            let (count, only) = try counted(operations)
            guard count <= Limits.counters - previous.end else { throw .outOfRange(field: "change.count") }
            bytes.append(
                changeFrom: previous.end, count, stamp: stamp, zigzagWall: wall, operations: operations)
            guard bytes.count <= limit else { throw .outOfRange(field: "packed.length") }
            previous = Said(
                end: previous.end + count, stamp: stamp, zigzagWall: wall,
                operation: only.map { $0.moved(by: bytes.count - operations.count) })
        }
        return bytes
    }

    private static func stamp(
        _ reader: inout ByteReader, _ mark: UInt8, after previous: UInt64
    ) throws(CodecError) -> UInt64 {
        let moved = try reader.varint()
        if mark & Mark.stampCounts != 0 {
            let (sum, overflow) = previous.addingReportingOverflow(moved)
            guard !overflow else { throw .outOfRange(field: "packed.stamp") }
            return sum
        }
        let (milliseconds, overflow) = (previous >> 16).addingReportingOverflow(moved)
        guard !overflow, milliseconds < 1 << 48 else { throw .outOfRange(field: "packed.stamp") }
        return milliseconds << 16
    }

    /// Returns the number of counters that the operations take, and the operation if there is just one.
    private static func counted(_ operations: [UInt8]) throws(CodecError) -> (count: UInt64, only: OperationView?) {
        var reader = ByteReader(operations)
        let first = try OperationView(&reader)
        guard !reader.isAtEnd else { return (first.span, first) }
        var count = first.span
        while !reader.isAtEnd { count += try OperationView(&reader).span }
        return (count, nil)
    }

    private static func append(
        _ reader: inout ByteReader, _ mark: UInt8, _ typing: TypedOperation?, after previous: Said, in bytes: [UInt8],
        upTo room: Int, to operations: inout [UInt8]
    ) throws(CodecError) {
        switch mark & Mark.operations {
        case Mark.whole:
            operations += reader.bytes[try reader.lengthPrefixed(upTo: room, "packed.operations")]
        case Mark.patched:
            guard let before = previous.operation else { throw .outOfRange(field: "packed.operations") }
            let head = Int(try reader.varint(upTo: UInt64(before.body.count), "packed.head"))
            let tail = Int(try reader.varint(upTo: UInt64(before.body.count - head), "packed.tail"))
            guard head + tail <= room else { throw .outOfRange(field: "packed.operations") }
            let middle = try reader.lengthPrefixed(upTo: room - head - tail, "packed.operations")
            Operation.append(
                headOf: before.kind, span: before.span, bodyCount: head + middle.count + tail, to: &operations)
            operations += bytes[before.body.prefix(head)]
            operations += reader.bytes[middle]
            operations += bytes[before.body.suffix(tail)]
        case _:
            guard let typing else { throw .outOfRange(field: "packed.operations") }
            let text: Range<Int>
            if mark & Mark.operations == Mark.letter {
                text = try reader.skip(1)
            } else {
                text = try reader.lengthPrefixed(upTo: room, "packed.operations")
            }
            guard !text.isEmpty, let letters = String(validating: reader.bytes[text], as: UTF8.self) else {
                throw .outOfRange(field: "packed.text")
            }
            operations += typing.goingOn(with: ExactString(letters), at: previous.end)
        }
    }
}
