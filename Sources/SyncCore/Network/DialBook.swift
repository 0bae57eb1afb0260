import SyncModel

/// The addresses worth dialling, each with the times of its last and its next try. Bounded; records are hints.
struct DialBook: Sendable {
    struct Target: Sendable, Equatable {
        let endpoint: Endpoint
        /// The device that answered at the address, or is said to live there; nil before.
        var device: DeviceID?
        var isStatic = false
        var isLastKnown = false
        /// mDNS instances that gave this address, sorted.
        var instances: [String] = []
        var attempt: ConnectionID?
        var failures = 0
        /// The time of the next dial; nil: not before a sign of life.
        var nextAt: Tick?
        var lastFailure: String?
        var lastFailureAt: Tick?
        /// True for our own address, which is never dialled.
        var isOwn = false
        /// A person removed it while it was being dialled: not shown, and gone once the attempt has ended.
        var isRemoved = false

        /// A sign of life: to be tried at once.
        mutating func wake(at now: Tick) {
            failures = 0
            if attempt == nil { nextAt = now }
        }

        var isVouched: Bool { isStatic || isLastKnown || !instances.isEmpty }

        var via: Via { !instances.isEmpty ? .mdns : isStatic ? .static : .lastKnown }
    }

    package enum Via: String, Sendable, Equatable {
        case mdns
        case `static`
        case lastKnown
    }

    /// The addresses, sorted by endpoint.
    private(set) var targets: [Target] = []
    /// Devices that were connected, and when last; sorted.
    private(set) var lastConnected: [Connected] = []

    struct Connected: Sendable, Equatable {
        let device: DeviceID
        var at: Tick
    }

    func index(of endpoint: Endpoint) -> Int? { targets.firstIndex { $0.endpoint == endpoint } }

    /// Finds or makes the target; nil when the book is full of better ones.
    mutating func insert(_ endpoint: Endpoint, limit: Int) -> Int? {
        if let index = index(of: endpoint) { return index }
        if targets.count >= limit {
            guard let index = targets.firstIndex(where: { !$0.isStatic && $0.device == nil && $0.attempt == nil })
            else {
                return nil
            }
            targets.remove(at: index)
        }
        let index = targets.firstIndex { endpoint < $0.endpoint } ?? targets.count
        targets.insert(Target(endpoint: endpoint), at: index)
        return index
    }

    mutating func update(_ index: Int, _ change: (inout Target) -> Void) { change(&targets[index]) }

    mutating func updateAll(_ change: (inout Target) -> Void) {
        for index in targets.indices { change(&targets[index]) }
    }

    /// Removes addresses that have no source any more.
    mutating func removeUnvouched() {
        targets.removeAll { !$0.isVouched && $0.attempt == nil }
    }

    /// Targets that were not removed.
    var present: [Target] { targets.filter { !$0.isRemoved } }

    mutating func recordConnected(_ device: DeviceID, at tick: Tick) {
        if let index = lastConnected.firstIndex(where: { $0.device == device }) {
            lastConnected[index].at = tick
        } else {
            let index = lastConnected.firstIndex { device < $0.device } ?? lastConnected.count
            lastConnected.insert(Connected(device: device, at: tick), at: index)
        }
    }

    func lastConnected(_ device: DeviceID) -> Tick? { lastConnected.first { $0.device == device }?.at }
}
