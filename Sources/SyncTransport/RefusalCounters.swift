/// The number of refused connections by reason, for metrics and `doctor`.
package struct RefusalCounters: Sendable, Equatable {
    private var counts: [EndReason: UInt64] = [:]

    package subscript(_ reason: EndReason) -> UInt64 { counts[reason, default: 0] }

    /// Reasons seen, sorted by code.
    package var all: [(reason: EndReason, count: UInt64)] {
        counts.map { (reason: $0.key, count: $0.value) }.sorted { $0.reason.rawValue < $1.reason.rawValue }
    }

    mutating func count(_ reason: EndReason) { counts[reason, default: 0] += 1 }
}
