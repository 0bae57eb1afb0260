/// A writable history: a device and a 64-bit random incarnation.
///
/// A device gets a new incarnation whenever its store cannot prove that it lost nothing. Text form:
/// the device's short form, a dot, the incarnation as 16 hexadecimal digits. The incarnation alone is unique in practice; the
/// device is there for the reader.
public struct ReplicaID: Hashable, Sendable, Comparable {
    /// Device and incarnation.
    public static let byteCount = DeviceID.byteCount + 8

    /// The device that writes the history.
    public let device: DeviceID
    /// The random number of the history among the device's histories.
    public let incarnation: UInt64

    /// Both parts.
    public init(device: DeviceID, incarnation: UInt64) {
        self.device = device
        self.incarnation = incarnation
    }

    /// Device, then incarnation, big-endian. Nil unless exactly `byteCount` bytes.
    public init?(bytes: [UInt8]) { self.init(bytes: bytes[...]) }

    /// Device, then incarnation, big-endian. Nil unless exactly `byteCount` bytes.
    public init?(bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.byteCount, let device = DeviceID(bytes: bytes.prefix(DeviceID.byteCount)) else {
            return nil
        }
        self.device = device
        incarnation = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Device, then incarnation, big-endian.
    public var bytes: [UInt8] {
        var bytes = device.bytes
        bytes.append(bigEndian: incarnation)
        return bytes
    }

    /// Compares by device, then by incarnation.
    public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.device == right.device ? left.incarnation < right.incarnation : left.device < right.device
    }
}

extension ReplicaID: CustomStringConvertible {
    /// The text form for people: the device is shortened.
    public var description: String {
        let digits = String(incarnation, radix: 16)
        return device.shortID + "." + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Names one operation: the counter-th of its replica, counted from 0.
public struct Dot: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The replica of the operation.
    public let replica: ReplicaID
    /// The number of the operation in its replica, from 0.
    public let counter: UInt64

    /// Both parts.
    public init(replica: ReplicaID, counter: UInt64) {
        self.replica = replica
        self.counter = counter
    }

    /// Compares by replica, then by counter.
    public static func < (left: Dot, right: Dot) -> Bool {
        left.replica == right.replica ? left.counter < right.counter : left.replica < right.replica
    }

    /// `REPLICA:COUNTER`.
    public var description: String { "\(replica):\(counter)" }
}
