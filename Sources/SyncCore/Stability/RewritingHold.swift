/// A hold on this device's own changes while it writes work again, from the first step to the last.
///
/// A later step knows all that is here by then. So it would replace, without a conflict, what others wrote meanwhile to an object that they
/// got with an earlier step. The hold ends after a time all the same: behind it waits all else that this device says, such as a revocation.
struct RewritingHold: Sendable {
    private var hasBegun = false
    private var until: Tick?

    var isOn: Bool { until != nil }

    /// - Parameter end: the time at which it ends, counted from the first step on.
    mutating func begin(until end: Tick) {
        if !hasBegun { until = end }
        hasBegun = true
    }

    mutating func pass(_ now: Tick) { if let until, until <= now { self.until = nil } }

    mutating func end() { self = RewritingHold() }
}
