package import SyncCore
package import SyncModel
package import SyncStore

/// The time from a local commit until 2, 3 and 5 devices hold it on their disks, this one included.
///
/// A device holds what it announces: nothing is announced before it is durable. Memory: for each number of devices at
/// most 1,024 commits that wait; with more, the oldest is not measured.
package struct DurabilityMeter: Sendable {
    package struct Level: Sendable {
        /// The number of devices, this one included.
        package let devices: Int
        package fileprivate(set) var counts = DurationCounts(bounds: DurationCounts.networkBounds)
        fileprivate var waiting: [(at: Tick, next: UInt64)] = []
        /// The first of `waiting` that waits: those before it are removed when they are many.
        fileprivate var first = 0

        fileprivate mutating func wait(for next: UInt64, since at: Tick) {
            if waiting.count - first == DurabilityMeter.waitingLimit { first += 1 }
            if first >= DurabilityMeter.waitingLimit {
                waiting.removeFirst(first)
                first = 0
            }
            waiting.append((at, next))
        }

        fileprivate mutating func reached(_ next: UInt64, at now: Tick) {
            while first < waiting.count, waiting[first].next <= next {
                counts.record(seconds: Double((now - waiting[first].at).nanoseconds) / 1e9)
                first += 1
            }
        }

        fileprivate mutating func forget() { (waiting, first) = ([], 0) }
    }

    fileprivate static let waitingLimit = 1_024

    package private(set) var levels = [2, 3, 5].map { Level(devices: $0) }
    /// The replica under which this device writes.
    private var replica: ReplicaID?
    /// The announced end of it, by device.
    private var announced: [DeviceID: UInt64] = [:]

    package init() {}

    /// Records a commit of this device.
    ///
    /// - Parameter at: when it was durable here, which may be before it was signed.
    package mutating func committed(_ replica: ReplicaID, next: UInt64, at: Tick) {
        if replica != self.replica {
            (self.replica, announced) = (replica, [:])
            for index in levels.indices { levels[index].forget() }
        }
        for index in levels.indices { levels[index].wait(for: next, since: at) }
    }

    /// Records that another device holds all of the replica before `next`.
    package mutating func announced(by device: DeviceID, _ replica: ReplicaID, next: UInt64, at now: Tick) {
        guard replica == self.replica, next > announced[device] ?? 0 else { return }
        announced[device] = next
        let ends = announced.values.sorted(by: >)
        for index in levels.indices {
            let others = levels[index].devices - 1
            if ends.count >= others { levels[index].reached(ends[others - 1], at: now) }
        }
    }
}
