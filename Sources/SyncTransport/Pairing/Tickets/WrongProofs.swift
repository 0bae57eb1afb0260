import NIOCore

/// Remembers wrong proofs per address for a minute, and counts them in all. Bounded: beyond 256 addresses the oldest are
/// forgotten.
struct WrongProofs {
    private static let window = TimeAmount.minutes(1)
    private static let limit = 256

    /// The number of wrong proofs, from any addresses, that ends every ticket.
    private static let limitInAll = 3

    let perMinute: Int
    private var countInAll = 0
    private var recent: [(host: String, at: NIODeadline)] = []

    init(perMinute: Int) { self.perMinute = perMinute }

    mutating func mayTry(_ host: String, now: NIODeadline) -> Bool {
        recent.removeAll { $0.at + Self.window <= now }
        return recent.count { $0.host == host } < perMinute
    }

    /// - Returns: whether every ticket is to end; the count begins anew then.
    mutating func record(_ host: String, now: NIODeadline) -> Bool {
        if recent.count == Self.limit { recent.removeFirst() }
        recent.append((host, now))
        countInAll += 1
        guard countInAll >= Self.limitInAll else { return false }
        countInAll = 0
        return true
    }
}
