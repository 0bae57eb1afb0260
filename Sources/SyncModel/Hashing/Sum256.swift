package import Crypto

/// A sum modulo 2^256 of item hashes: the digest of a set that can be kept up to date item by item, in any order.
package struct Sum256: Hashable, Sendable {
    /// Little-endian limbs.
    private var limb0, limb1, limb2, limb3: UInt64

    package static let zero = Sum256()

    package init() { (limb0, limb1, limb2, limb3) = (0, 0, 0, 0) }

    package init(_ hash: SHA256.Digest) {
        self.init()
        hash.withUnsafeBytes { raw in
            limb0 = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
            limb1 = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            limb2 = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            limb3 = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        }
    }

    /// Nil unless exactly 32 bytes, little-endian.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        func limb(_ index: Int) -> UInt64 {
            bytes[index * 8..<index * 8 + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        (limb0, limb1, limb2, limb3) = (limb(0), limb(1), limb(2), limb(3))
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for limb in [limb0, limb1, limb2, limb3] { bytes.append(bigEndian: limb.byteSwapped) }
        return bytes
    }

    package static func += (left: inout Sum256, right: Sum256) {
        var carry = false
        func add(_ a: inout UInt64, _ b: UInt64) {
            let (partial, first) = a.addingReportingOverflow(b)
            let (sum, second) = partial.addingReportingOverflow(carry ? 1 : 0)
            a = sum
            carry = first || second
        }
        add(&left.limb0, right.limb0)
        add(&left.limb1, right.limb1)
        add(&left.limb2, right.limb2)
        add(&left.limb3, right.limb3)
    }

    package static func -= (left: inout Sum256, right: Sum256) {
        // Two's complement: subtracting is adding the complement and one.
        var negated = right
        (negated.limb0, negated.limb1) = (~right.limb0, ~right.limb1)
        (negated.limb2, negated.limb3) = (~right.limb2, ~right.limb3)
        var one = Sum256()
        one.limb0 = 1
        left += negated
        left += one
    }
}

extension Sum256: CustomStringConvertible {
    /// 64 hexadecimal digits.
    package var description: String { bytes.hexadecimal }
}
