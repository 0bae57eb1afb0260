/// The statement that the space no longer waits for a device, and how far each of its histories counts. What the device wrote
/// beyond is void.
///
/// Its author's signature on the chain vouches for it. Replicas that are not named end at 0, whenever they began. The
/// exception is a replica that began after a member that knew of the cut admitted the device again (`CutTable`).
package struct CutFact: Hashable, Sendable {
    /// The end of one history: the counter at which a change ends, and the chain's head there.
    package struct End: Hashable, Sendable {
        package let incarnation: UInt64
        /// The counter at which the history ends; at least 1.
        package let end: UInt64
        package let head: ChainHead

        package init(incarnation: UInt64, end: UInt64, head: ChainHead) {
            self.incarnation = incarnation
            self.end = end
            self.head = head
        }
    }

    package let device: DeviceID
    /// A revocation. It has no effect: see `hasEffect`.
    package let isStrict: Bool
    /// Sorted by incarnation, each once.
    package let ends: [End]

    package init(device: DeviceID, isStrict: Bool, ends: [End]) {
        self.device = device
        self.isStrict = isStrict
        self.ends = ends.sorted { $0.incarnation < $1.incarnation }
    }

    /// True if the cut ends anything. Strict cuts do not: no rule yet says which member may write one, so a single member
    /// could revoke all others. The answer depends on the fact alone, so all nodes agree in whatever order they learn of it.
    package var hasEffect: Bool { !isStrict }

    /// The counter at which a history of the device ends; 0 for one that is not named.
    package func end(of replica: ReplicaID) -> UInt64 {
        ends.first { $0.incarnation == replica.incarnation }?.end ?? 0
    }

    /// Creates the retirement of a device at what its author holds of it.
    ///
    /// - Parameter tips: The tips of all replicas.
    package static func retiring(_ device: DeviceID, at tips: [(replica: ReplicaID, tip: ReplicaTip)]) -> CutFact {
        CutFact(
            device: device, isStrict: false,
            ends: tips.filter { $0.replica.device == device && $0.tip.next > 0 }.map {
                End(incarnation: $0.replica.incarnation, end: $0.tip.next, head: $0.tip.head)
            })
    }
}

extension CutFact: ByteCoded {
    /// Layout: device, 1 byte (1: strict), varint count, each: incarnation, varint end, head; sorted.
    package func append(to bytes: inout [UInt8]) {
        bytes += device.bytes
        bytes.append(isStrict ? 1 : 0)
        bytes.append(varint: UInt64(ends.count))
        for end in ends {
            bytes.append(bigEndian: end.incarnation)
            bytes.append(varint: end.end)
            bytes += end.head.bytes
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        device = try reader.device("cut.device")
        let flags = try reader.byte()
        guard flags <= 1 else { throw .outOfRange(field: "cut.flags") }
        isStrict = flags == 1
        let count = try reader.varint(upTo: UInt64(Limits.contextEntries), "cut.ends")
        guard count <= UInt64(reader.remainingCount / (9 + ChainHead.byteCount)) else { throw .truncated }
        var ends: [End] = []
        for _ in 0..<count {
            let incarnation = try reader.bigEndianUInt64()
            if let last = ends.last, last.incarnation >= incarnation { throw .outOfRange(field: "cut.ends") }
            let end = try reader.varint(upTo: Limits.counters, "cut.end")
            guard end > 0 else { throw .outOfRange(field: "cut.end") }
            let bytes = try reader.skip(ChainHead.byteCount)
            guard let head = ChainHead(bytes: Array(reader.bytes[bytes])) else { throw .truncated }
            ends.append(End(incarnation: incarnation, end: end, head: head))
        }
        self.ends = ends
    }
}
