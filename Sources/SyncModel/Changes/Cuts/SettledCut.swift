extension Operation {
    /// The statement that every remaining device learned of this cut before any other cut that would make it void. So no such
    /// other cut holds.
    ///
    /// Only the cut's author writes it, once, and only while the remaining devices that know each other outnumber the devices
    /// that are away (`AgentCore.planSettling`). So of two cuts that make each other void at most one is ever settled. After
    /// it, data that only the cut device needed may be forgotten.
    package struct SettledCut: Hashable, Sendable {
        /// The incarnation of the cut's replica; its device is that of the author of this statement.
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
