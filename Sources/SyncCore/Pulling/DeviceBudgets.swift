import SyncModel

/// A budget for each device: the number of actions at once, and the rate after that.
///
/// Bounds: one row for each device that did something since the start.
struct DeviceBudgets: Sendable {
    private struct Budget: Sendable {
        /// The budget in nanoseconds of waiting, so that nothing is rounded. It is below zero after more was done at once
        /// than was left.
        var credit: Int64
        var at: Tick
    }

    private let burst: Int
    private let everyNanoseconds: Int64
    private var budgets: [DeviceID: Budget] = [:]

    init(atOnce burst: Int, every span: Tick.Span) {
        self.burst = burst
        everyNanoseconds = span.nanoseconds
    }

    private func credit(of device: DeviceID, at now: Tick) -> Int64 {
        let full = Int64(burst) * everyNanoseconds
        guard let budget = budgets[device] else { return full }
        return min(full, budget.credit + (now - budget.at).nanoseconds)
    }

    func mayTake(_ device: DeviceID, at now: Tick) -> Bool { credit(of: device, at: now) >= everyNanoseconds }

    mutating func take(_ device: DeviceID, count: Int = 1, at now: Tick) {
        let credit = credit(of: device, at: now) - Int64(count) * everyNanoseconds
        budgets[device] = Budget(credit: credit, at: now)
    }
}
