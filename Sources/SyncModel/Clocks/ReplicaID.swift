/// One writable history: a device and a 64-bit random incarnation.
///
/// A device gets a new incarnation whenever its store cannot prove that it lost nothing (design: "Incarnations").
/// Text form: the device's short form, a dot, the incarnation as 16 hexadecimal digits. The incarnation alone is unique
/// in practice; the device is there for the reader.
public struct ReplicaID: Hashable, Sendable, Comparable {
    public static let byteCount = DeviceID.byteCount + 8

    public let device: DeviceID
    public let incarnation: UInt64

    public init(device: DeviceID, incarnation: UInt64) {
        self.device = device
        self.incarnation = incarnation
    }

    /// Device, then incarnation, big-endian. Nil unless exactly `byteCount` bytes.
    public init?(bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count == Self.byteCount, let device = DeviceID(bytes: bytes.prefix(DeviceID.byteCount)) else {
            return nil
        }
        self.device = device
        incarnation = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    public var bytes: [UInt8] {
        var bytes = device.bytes
        bytes.append(bigEndian: incarnation)
        return bytes
    }

    public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.device == right.device ? left.incarnation < right.incarnation : left.device < right.device
    }
}

extension ReplicaID: CustomStringConvertible {
    public var description: String {
        let digits = String(incarnation, radix: 16)
        return device.shortID + "." + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Names one operation: the counter-th of its replica, counted from 0.
public struct Dot: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let replica: ReplicaID
    public let counter: UInt64

    public init(replica: ReplicaID, counter: UInt64) {
        self.replica = replica
        self.counter = counter
    }

    public static func < (left: Dot, right: Dot) -> Bool {
        left.replica == right.replica ? left.counter < right.counter : left.replica < right.replica
    }

    public var description: String { "\(replica):\(counter)" }
}

/// What is shared as a whole. Every device has the space `home`, under one fixed id, so pairing merges homes.
public struct SpaceID: Hashable, Sendable, Comparable {
    public static let byteCount = 16
    public static let home = SpaceID(bytes: Array("lanyard/home/v1\0".utf8))!

    public let bytes: [UInt8]

    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    public static func < (left: SpaceID, right: SpaceID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
