extension Operation {
    /// The statement that this change does again what a device did to an object beyond the end of its histories.
    ///
    /// An admin looked at void work and took it: the other operations of the change bring the object to what it would be with
    /// that work. The statement itself changes nothing. By it other admins see that the work was taken, and do not take it
    /// twice.
    package struct AcceptedWork: Hashable, Sendable {
        /// The void operations on the object from one counter of a history to another.
        package struct Stretch: Hashable, Sendable {
            package let incarnation: UInt64
            /// Invariant: start < end.
            package let start: UInt64
            package let end: UInt64

            package init(incarnation: UInt64, start: UInt64, end: UInt64) {
                self.incarnation = incarnation
                self.start = start
                self.end = end
            }
        }

        package let object: ObjectKey
        /// The author of the void work.
        package let device: DeviceID
        /// Sorted by incarnation, one of each; at most `Limits.contextEntries`.
        package let stretches: [Stretch]

        /// - Parameter stretches: sorted by incarnation, one of each.
        package init(object: ObjectKey, device: DeviceID, stretches: [Stretch]) {
            self.object = object
            self.device = device
            self.stretches = stretches
        }

        /// True if the operation on the object at this dot is among the accepted ones.
        package func covers(_ dot: Dot) -> Bool {
            dot.replica.device == device
                && stretches.contains {
                    $0.incarnation == dot.replica.incarnation && $0.start <= dot.counter && dot.counter < $0.end
                }
        }
    }
}

extension Operation.AcceptedWork: ByteCoded {
    /// Layout: key, device, varint count, each: incarnation, varint start, varint counters from there.
    package func append(to bytes: inout [UInt8]) {
        object.append(to: &bytes)
        bytes += device.bytes
        bytes.append(varint: UInt64(stretches.count))
        for stretch in stretches {
            bytes.append(bigEndian: stretch.incarnation)
            bytes.append(varint: stretch.start)
            bytes.append(varint: stretch.end - stretch.start)
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        object = try ObjectKey(reading: &reader)
        device = try reader.device("accepted.device")
        let count = try reader.varint(upTo: UInt64(Limits.contextEntries), "accepted.stretches")
        guard count > 0, count <= UInt64(reader.remainingCount / 10) else {
            throw .outOfRange(field: "accepted.stretches")
        }
        var stretches: [Stretch] = []
        for _ in 0..<count {
            let incarnation = try reader.bigEndianUInt64()
            if let last = stretches.last, last.incarnation >= incarnation {
                throw .outOfRange(field: "accepted.stretches")
            }
            let start = try reader.varint(upTo: Limits.counters, "accepted.start")
            let span = try reader.varint(upTo: Limits.counters - start, "accepted.count")
            guard span > 0 else { throw .outOfRange(field: "accepted.count") }
            stretches.append(Stretch(incarnation: incarnation, start: start, end: start + span))
        }
        self.stretches = stretches
    }
}
