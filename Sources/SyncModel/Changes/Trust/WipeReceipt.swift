import Crypto

/// The signed word of a device that it deleted what it held, because a revocation told it to.
///
/// It is a device's own word: one that keeps a copy can say the same.
package struct WipeReceipt: Hashable, Sendable {
    /// The place of the revocation that asked for it.
    package let statement: Dot
    /// The clock of the device, milliseconds since 1970.
    package let milliseconds: Int64
    /// Ed25519, 64 bytes, with the device's signing key.
    package let signature: [UInt8]

    /// - Parameter sign: signs with the key of the device.
    package init(
        of device: DeviceID, statement: Dot, milliseconds: Int64, in space: SpaceID, sign: ([UInt8]) -> [UInt8]
    ) {
        self.statement = statement
        self.milliseconds = milliseconds
        signature = sign(Self.message(device, statement, milliseconds, space))
    }

    /// A receipt that says nothing yet: it is signed when all is gone.
    package init(draftFor statement: Dot, milliseconds: Int64) {
        self.statement = statement
        self.milliseconds = milliseconds
        signature = [UInt8](repeating: 0, count: 64)
    }

    /// True if the device signed it.
    ///
    /// - Parameter key: the signing key of the device.
    package func isSigned(by key: [UInt8], of device: DeviceID, in space: SpaceID) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature, for: Self.message(device, statement, milliseconds, space))
    }

    private static func message(
        _ device: DeviceID, _ statement: Dot, _ milliseconds: Int64, _ space: SpaceID
    ) -> [UInt8] {
        var bytes = Array("lanyard/wiped/v1".utf8) + space.bytes + device.bytes
        bytes.append(statement)
        bytes.append(bigEndian: UInt64(bitPattern: milliseconds))
        return bytes
    }
}

extension WipeReceipt: ByteCoded {
    /// Nil unless these are the bytes of a receipt, and no more.
    package init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let receipt = try? WipeReceipt(reading: &reader), reader.isAtEnd else { return nil }
        self = receipt
    }

    /// Layout: dot of the revocation, u64 milliseconds, signature (64).
    package func append(to bytes: inout [UInt8]) {
        bytes.append(statement)
        bytes.append(bigEndian: UInt64(bitPattern: milliseconds))
        bytes += signature
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        statement = try reader.dot("receipt.statement")
        milliseconds = Int64(bitPattern: try reader.bigEndianUInt64())
        let clock = -Limits.wallMilliseconds...Limits.wallMilliseconds
        guard clock.contains(milliseconds) else { throw .outOfRange(field: "receipt.milliseconds") }
        signature = Array(reader.bytes[try reader.skip(64)])
    }
}
