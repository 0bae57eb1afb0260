/// One writable history: a device and a 64-bit random incarnation.
///
/// A device gets a new incarnation whenever its store cannot prove that it lost nothing (design: "Incarnations").
/// Text form: the device's short form, a dot, the incarnation as 16 hexadecimal digits. The incarnation alone is unique
/// in practice; the device is there for the reader.
package struct ReplicaID: Hashable, Sendable, Comparable {
    package static let byteCount = DeviceID.byteCount + 8

    package let device: DeviceID
    package let incarnation: UInt64

    package init(device: DeviceID, incarnation: UInt64) {
        self.device = device
        self.incarnation = incarnation
    }

    /// Device, then incarnation, big-endian. Nil unless exactly `byteCount` bytes.
    package init?(bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count == Self.byteCount, let device = DeviceID(bytes: bytes.prefix(DeviceID.byteCount)) else {
            return nil
        }
        self.device = device
        incarnation = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package var bytes: [UInt8] {
        var bytes = device.bytes
        bytes.append(bigEndian: incarnation)
        return bytes
    }

    package static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.device == right.device ? left.incarnation < right.incarnation : left.device < right.device
    }
}

extension ReplicaID: CustomStringConvertible {
    package var description: String {
        let digits = String(incarnation, radix: 16)
        return device.shortID + "." + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Names one operation: the counter-th of its replica, counted from 0.
package struct Dot: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let replica: ReplicaID
    package let counter: UInt64

    package init(replica: ReplicaID, counter: UInt64) {
        self.replica = replica
        self.counter = counter
    }

    package static func < (left: Dot, right: Dot) -> Bool {
        left.replica == right.replica ? left.counter < right.counter : left.replica < right.replica
    }

    package var description: String { "\(replica):\(counter)" }
}

/// What is shared as a whole. Every device has the space `home`, under one fixed id, so pairing merges homes.
package struct SpaceID: Hashable, Sendable, Comparable {
    package static let byteCount = 16
    package static let home = SpaceID(bytes: Array("lanyard/home/v1\0".utf8))!

    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    package static func < (left: SpaceID, right: SpaceID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
