import NIOCore

/// Remembers wrong proofs per address for a minute. Bounded: beyond 256 addresses the oldest are forgotten.
struct WrongProofs {
    private static let window = TimeAmount.minutes(1)
    private static let limit = 256

    let perMinute: Int
    private var recent: [(host: String, at: NIODeadline)] = []

    init(perMinute: Int) { self.perMinute = perMinute }

    mutating func mayTry(_ host: String, now: NIODeadline) -> Bool {
        recent.removeAll { $0.at + Self.window <= now }
        return recent.count { $0.host == host } < perMinute
    }

    mutating func note(_ host: String, now: NIODeadline) {
        if recent.count == Self.limit { recent.removeFirst() }
        recent.append((host, now))
    }
}
