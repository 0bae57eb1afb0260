package import SyncModel

/// The name of a blob file; it says whether the contents may be trusted.
package enum BlobFileName: Hashable, Sendable {
    /// All of a blob: `HASH`. It got its name when its bytes were durable.
    case whole(BlobHash)
    /// Some chunks of it, each in its place: `HASH.partial`.
    case partial(BlobHash)
    /// Something that is being added and has no hash yet: `RUN-NUMBER.adding`. Of another run: left over.
    case adding(run: UInt64, number: UInt64)

    /// The name in the folder.
    package var string: String {
        switch self {
        case .whole(let hash): hash.bytes.hexadecimal
        case .partial(let hash): hash.bytes.hexadecimal + ".partial"
        case .adding(let run, let number): String(run, radix: 16) + "-" + String(number, radix: 16) + ".adding"
        }
    }

    /// Nil for what is not ours.
    package init?(_ string: String) {
        let parts = string.split(separator: ".", omittingEmptySubsequences: false)
        switch (parts.count, parts.last) {
        case (1, _): self.init(hexadecimal: parts[0], BlobFileName.whole)
        case (2, "partial"): self.init(hexadecimal: parts[0], BlobFileName.partial)
        case (2, "adding"):
            let numbers = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard numbers.count == 2 else { return nil }
            self = .adding(run: numbers[0], number: numbers[1])
        default: return nil
        }
        // One file, one name: neither capitals nor leading zeros.
        guard self.string == string else { return nil }
    }

    private init?(hexadecimal: Substring, _ make: (BlobHash) -> BlobFileName) {
        let digits = Array(hexadecimal.utf8)
        guard digits.count == 2 * BlobHash.byteCount else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
        }
        guard let hash = BlobHash(bytes: bytes) else { return nil }
        self = make(hash)
    }
}
