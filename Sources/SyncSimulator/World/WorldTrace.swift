import Crypto

/// The events of a run as a running hash, and as text if requested.
struct WorldTrace {
    let isKept: Bool
    private var hasher = SHA256()
    private(set) var lines: [String] = []

    init(isKept: Bool) { self.isKept = isKept }

    mutating func record(_ now: Int64, _ node: Int, _ text: @autoclosure () -> String) {
        let line = "\(now / 1_000) node\(node) \(text())"
        hasher.update(data: Array(line.utf8))
        if isKept { lines.append(line) }
    }

    var digest: String {
        hasher.finalize().map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
