package import SyncModel

/// The summary of one space's log: all that authoring and applying must know. A value: the store computes the next one
/// beside the current one and takes it over only when its transaction is durable.
///
/// Bounds: one tip per replica; nothing in here grows with the number of changes.
package struct LogState: Sendable, Equatable {
    package let space: SpaceID
    /// Sorted by replica, none empty.
    package private(set) var tips: [KnownReplica] = []
    /// The same as a vector.
    package private(set) var held = VersionVector()
    /// The greatest stamp of all stored changes.
    package private(set) var greatestStamp = Stamp.zero
    package var digest = Sum256.zero
    package var counts = StoreCounts(changes: 0, events: 0)
    /// Arrival number of the newest event, 0 before the first.
    package var lastPosition: Int64 = 0
    /// Grows with every change to an object.
    package var objectPosition: Int64 = 0
    /// Per replica, what its changes named until now; with what it inherited that is what the author of the newest had seen.
    private var named: [ReplicaID: VersionVector] = [:]
    package private(set) var firsts = FirstContexts()
    private var recent = RecentContexts()
    /// The join of the vectors at which deletions were collected here.
    package var floor = VersionVector()
    /// Per replica the counter from which on changes are held; those before it came as state. Not in it where all are.
    package var firstHeld = VersionVector()
    /// The changes that admitted members.
    package var members = MemberFacts()
    /// The founder of the space that this device follows; nil: this device itself, or one that the facts do not tell yet. It is
    /// adopted with the first host (`adoptFounder`) and stays.
    package var founder: DeviceID? { didSet { if founder != oldValue { follow() } } }
    /// The device whose log it is; nil in a log that belongs to no device.
    private(set) var own: DeviceID?
    /// True if the device said through which host it joined.
    private var hasHost = false
    /// The devices that were retired or revoked, and the part of their histories that counts.
    package var cuts = CutTable()
    /// True if changes were taken back: the log may hold changes of devices that are no longer admitted.
    var hasTakenBack = false
    /// Some objects could not be done again when a cut moved: a part of their history came as state. They are as they were, and
    /// nothing is handed over or acknowledged, until a member that could has said what they are.
    package var isIncomplete = false
    /// The settings of streams; streams without one are absent.
    package private(set) var streams: [ExactString: KeptStream] = [:]
    /// The events that are no longer shown.
    package var dropped = DroppedByStream()

    package init(space: SpaceID) { self.space = space }

    /// Takes over what was kept of the space that the device is in.
    ///
    /// - Parameters:
    ///   - hasHost: true if the device said through which host it joined.
    ///   - recoveryKey: the public recovery key that it knows.
    mutating func recordFounding(own: DeviceID?, founder: DeviceID?, hasHost: Bool, recoveryKey: [UInt8]?) {
        (self.own, self.hasHost) = (own, hasHost)
        cuts.follow(nil, recoveryKey: recoveryKey, in: space, members: members)
        self.founder = founder
        follow()
    }

    /// Judges roles with planted bugs.
    mutating func plant(_ faults: TrustFaults, on device: DeviceID) {
        cuts.plant(faults, on: device, members: members)
    }

    /// Takes note that the device joins through a host.
    mutating func recordHost() {
        guard !hasHost else { return }
        hasHost = true
        follow()
    }

    /// A device that joined through no host is the founder itself.
    private mutating func follow() {
        cuts.follow(founder ?? (hasHost ? nil : own), recoveryKey: nil, in: space, members: members)
    }

    /// The empty tip for a replica of which nothing is held.
    package func tip(of replica: ReplicaID) -> ReplicaTip {
        let index = position(of: replica)
        guard index < tips.count, tips[index].replica == replica else { return .empty(space: space, replica: replica) }
        return tips[index].tip
    }

    package mutating func advance(_ replica: ReplicaID, to tip: ReplicaTip) {
        let known = KnownReplica(replica: replica, tip: tip)
        let index = position(of: replica)
        if index < tips.count, tips[index].replica == replica {
            precondition(tips[index].tip.next <= tip.next, "a tip never moves back")
            tips[index] = known
        } else {
            tips.insert(known, at: index)
        }
        held.advance(replica, to: tip.next)
        greatestStamp = max(greatestStamp, tip.stamp)
    }

    package mutating func keep(_ stream: KeptStream) {
        if let known = streams[stream.setting.stream], known.key > stream.key { return }
        streams[stream.setting.stream] = stream
    }

    /// Puts another setting in place of the one of the stream; nil for none.
    package mutating func replace(_ kept: KeptStream?, of stream: ExactString) { streams[stream] = kept }

    package func isLatestOnly(_ stream: String) -> Bool { streams[ExactString(stream)]?.setting.latestOnly ?? false }

    var latestOnlyStreams: Set<ExactString> { Set(streams.filter(\.value.setting.latestOnly).keys) }

    /// Returns what the replica's changes have named so far.
    package func named(by replica: ReplicaID) -> VersionVector { named[replica] ?? VersionVector() }

    /// Returns what the author of the replica's newest change had seen.
    package func context(of replica: ReplicaID) -> VersionVector {
        if let context = recent[replica] { return context }
        var context = firsts.inherited(by: replica)
        context.join(named(by: replica))
        return context
    }

    /// - Returns: what the author had seen, once `moved` is counted in.
    package mutating func extendContext(of replica: ReplicaID, by moved: [VersionVector.Entry]) -> VersionVector {
        var context = context(of: replica)
        if !moved.isEmpty {
            named[replica, default: VersionVector()].join(VersionVector(moved))
            context.join(VersionVector(moved))
        }
        recent[replica] = context
        return context
    }

    /// Takes over what was noted of a replica.
    package mutating func record(
        named: VersionVector, first: VersionVector, isHearsay: Bool, of replica: ReplicaID
    ) {
        self.named[replica] = named.isEmpty ? nil : named
        recordFirst(first, of: replica, isHearsay: isHearsay)
    }

    /// Takes over what the first change of a replica named: before any context of it is asked for.
    package mutating func recordFirst(_ context: VersionVector, of replica: ReplicaID, isHearsay: Bool = false) {
        firsts.record(context, of: replica, isHearsay: isHearsay)
    }

    /// First index whose replica is not before `replica`.
    private func position(of replica: ReplicaID) -> Int {
        var low = 0
        var high = tips.count
        while low < high {
            let middle = (low + high) / 2
            if tips[middle].replica < replica { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The contexts of each device's newest change: adding to one costs only what is new, and all others can be computed again.
private struct RecentContexts: Equatable {
    private var contexts: [DeviceID: (replica: ReplicaID, context: VersionVector)] = [:]

    subscript(replica: ReplicaID) -> VersionVector? {
        get {
            guard let recent = contexts[replica.device], recent.replica == replica else { return nil }
            return recent.context
        }
        set { contexts[replica.device] = newValue.map { (replica, $0) } }
    }

    /// Always true: the contents follow from the rest of the state.
    static func == (one: RecentContexts, other: RecentContexts) -> Bool { true }
}
