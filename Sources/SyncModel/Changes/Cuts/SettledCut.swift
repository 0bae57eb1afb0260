extension Operation {
    /// "Everybody who is left has heard of my cut before any other that would make it void": so no such one holds.
    ///
    /// Only its author says so, once, and only while more of those who are left than of those who are away know each other
    /// (`AgentCore.planSettling`): of two cuts that make each other void at most one is ever settled. Behind this what nobody
    /// but the cut device needed may be forgotten.
    package struct SettledCut: Hashable, Sendable {
        /// Of the same device as the one who says this.
        package let incarnation: UInt64
        package let counter: UInt64

        package init(_ cut: Dot) { (incarnation, counter) = (cut.replica.incarnation, cut.counter) }

        private init(incarnation: UInt64, counter: UInt64) {
            self.incarnation = incarnation
            self.counter = counter
        }

        func dot(by device: DeviceID) -> Dot {
            Dot(replica: ReplicaID(device: device, incarnation: incarnation), counter: counter)
        }
    }
}

extension Operation.SettledCut: ByteCoded {
    /// Layout: incarnation, varint counter.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: incarnation)
        bytes.append(varint: counter)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        self.init(
            incarnation: try reader.bigEndianUInt64(),
            counter: try reader.varint(upTo: Limits.counters, "settled.counter"))
    }
}
