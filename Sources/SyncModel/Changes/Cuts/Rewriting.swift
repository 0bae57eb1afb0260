/// "From here on stands again what I had written there": a device that came back writes its void work once more, each
/// operation over as many counters as before, so that one number says where each of them is now.
package struct Rewriting: Hashable, Sendable {
    /// The first operation as it was written first.
    package let old: Dot
    /// The number of counters, all of the same replica.
    package let count: UInt64
    /// The first operation as it stands now.
    package let new: Dot

    package init(old: Dot, count: UInt64, new: Dot) {
        self.old = old
        self.count = count
        self.new = new
    }

    /// The present dot of an operation; nil for one that is not in the range.
    package func place(of dot: Dot) -> Dot? {
        guard dot.replica == old.replica, dot.counter >= old.counter, dot.counter - old.counter < count else {
            return nil
        }
        return Dot(replica: new.replica, counter: new.counter + (dot.counter - old.counter))
    }
}

extension [Rewriting] {
    /// Returns the places at which what `vector` covers was written again, also more than once: of each replica that wrote again
    /// all up to the last of them.
    package func places(ofAllIn vector: VersionVector) -> VersionVector {
        var places = VersionVector()
        var isMoving = !isEmpty
        while isMoving {
            isMoving = false
            for row in self {
                let covered = Swift.max(vector.next(of: row.old.replica), places.next(of: row.old.replica))
                guard covered > row.old.counter else { continue }
                let next = row.new.counter + Swift.min(row.count, covered - row.old.counter)
                guard places.next(of: row.new.replica) < next else { continue }
                places.advance(row.new.replica, to: next)
                isMoving = true
            }
        }
        return places
    }
}

extension Operation {
    /// A mark before rewritten operations: the operations behind it, in its change and in the changes after it, stand counter
    /// by counter for what the device had written under another incarnation from `start` on.
    package struct RewritingMark: Hashable, Sendable {
        package let incarnation: UInt64
        package let start: UInt64
        /// The number of counters; at least 1.
        package let count: UInt64

        package init(incarnation: UInt64, start: UInt64, count: UInt64) {
            self.incarnation = incarnation
            self.start = start
            self.count = count
        }

        /// - Parameter dot: of the mark.
        package func rewriting(at dot: Dot) -> Rewriting {
            Rewriting(
                old: Dot(replica: ReplicaID(device: dot.replica.device, incarnation: incarnation), counter: start),
                count: count, new: Dot(replica: dot.replica, counter: dot.counter + 1))
        }
    }
}

extension Operation.RewritingMark: ByteCoded {
    /// Layout: incarnation, varint start, varint count.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: incarnation)
        bytes.append(varint: start)
        bytes.append(varint: count)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        incarnation = try reader.bigEndianUInt64()
        start = try reader.varint(upTo: Limits.counters, "rewriting.start")
        count = try reader.varint(upTo: Limits.counters - start, "rewriting.count")
        guard count > 0 else { throw .outOfRange(field: "rewriting.count") }
    }
}
