package import SyncCore

/// The faults and sizes that one seed gives its world. Not every seed has every fault (swarm testing, Groce et al. 2012): a
/// fault that is always on hides what only shows without it.
package struct WorldOptions: Sendable, Equatable {
    package var nodes: Int
    /// Appends in the safety phase; each writes 1 to `changesPerAppend` changes.
    package var appends: Int
    package var changesPerAppend: Int
    /// Length of the safety phase.
    package var safetySeconds: Int64
    /// One-way delay of a frame, milliseconds (the VOPR's is 30 to 100; ours spans a good cable and a bad radio).
    package var delayMilliseconds: ClosedRange<Int64>
    /// A frame whose connection is reset under it, per 10,000 (the VOPR loses 0 to 30 % of packets; a reset is worse).
    package var resetsPer10000: Int
    /// Faults in the safety phase, in events per simulated minute.
    package var partitionsPerMinute: Double
    package var crashesPerMinute: Double
    package var pausesPerMinute: Double
    /// Share of crashes that take the machine's power, not just the process.
    package var powerLossPercent: Int
    /// An old copy of a disk is put back while the node is down, per crash.
    package var restorePercent: Int
    package var diskFaultsPerMinute: Double
    package var clockStepsPerMinute: Double
    package var glitchesPerMinute: Double
    /// Machines that are away, each for up to the whole run.
    package var absences: Int
    /// A relay that flips bits in what it forwards, per 10,000 frames of changes.
    package var corruptionsPer10000: Int
    /// Nodes that pair in the middle of the run.
    package var lateJoiners: Int
    package var diskMilliseconds: ClosedRange<Int64>
    /// The time from a change to its acknowledgement; between two acknowledgements twice that.
    package var acknowledgeMilliseconds: Int64
    package var bounds: CoreConfiguration.Bounds
    /// True if local writes stay open while no peer is connected, and are folded before they are shipped.
    package var coalesces: Bool
    package var objects: Objects
    /// The blobs; nil: attachments are records only, without bytes.
    package var blobs: Blobs?
    /// Nil: changes are all that is exchanged, and records lie in memory.
    package var states: States?
    /// Nil: disks are what their machines left, but for `restorePercent`.
    package var copies: Copies?
    /// Nil: streams keep all events.
    package var retention: Retention?
    /// Thorough looks at a node in the safety phase.
    package var inspections: Int
    /// The number of times a user retires a device.
    package var retirements = 0
    /// Nil: all members keep the rules.
    package var hostile: Hostile?
    /// Nil: all nodes have the same version.
    package var versions: Versions?
    /// Nil: all members are writers for good.
    package var thieves: Thieves?
    /// Nil: no machine is put back while it runs.
    package var reverts: Reverts?

    /// - Parameter kind: what it adds is drawn apart; all other options of the seed stay what they are, as far as the kind has
    ///   room for them.
    package init(seed: UInt64, kind: WorldKind = .plain) {
        var random = SplitMix64(seed: seed ^ 0x6f70_7469_6f6e_7321)
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        func rate(_ percent: Int, upTo greatest: Double) -> Double {
            chance(percent) ? Double.random(in: 0...greatest, using: &random) : 0
        }
        nodes = Int.random(in: 2...6, using: &random)
        appends = Int.random(in: 20...120, using: &random)
        changesPerAppend = chance(30) ? 40 : 4
        safetySeconds = Int64.random(in: 20...120, using: &random)
        let slowest: Int64 = chance(20) ? 1_000 : chance(50) ? 50 : 3
        delayMilliseconds = 0...slowest
        resetsPer10000 = chance(50) ? Int.random(in: 0...300, using: &random) : 0
        partitionsPerMinute = rate(60, upTo: 6)
        crashesPerMinute = rate(60, upTo: 6)
        pausesPerMinute = rate(30, upTo: 4)
        powerLossPercent = chance(50) ? 50 : 0
        restorePercent = chance(30) ? 25 : 0
        diskFaultsPerMinute = rate(30, upTo: 3)
        clockStepsPerMinute = rate(30, upTo: 3)
        corruptionsPer10000 = chance(20) ? Int.random(in: 100...1_000, using: &random) : 0
        lateJoiners = nodes > 2 && chance(30) ? 1 : 0
        diskMilliseconds = 0...(chance(20) ? 40 : 2)
        bounds = CoreConfiguration.Bounds()
        coalesces = true
        acknowledgeMilliseconds = 1_000
        if chance(30) {
            // Small rooms and windows: the bounds are met by few events.
            bounds.waitingRoomBytes = 4_096
            bounds.wantWindowBytes = 1_024
            bounds.persistBatchBytes = 1_024
            bounds.servedReadBytes = 512
        }
        coalesces = chance(80)
        objects = Objects(using: &random)
        absences = chance(40) ? Int.random(in: 1...2, using: &random) : 0
        glitchesPerMinute = rate(40, upTo: 6)
        inspections = Int.random(in: 0...4, using: &random)
        blobs = objects.sharePercent > 0 && objects.attachPercent > 0 ? Blobs(seed: seed) : nil
        states = States(seed: seed)
        copies = Copies(seed: seed)
        retention = Retention(seed: seed, copies)
        if let states {
            blobs = nil
            states.adjust(&bounds)
            widenStateWindow()
            // One node has much to catch up with.
            lateJoiners = max(lateJoiners, 1)
        }
        // Drawn last, so that the other options of a seed stay what they were.
        acknowledgeMilliseconds = [200, 2_000, 30_000][Int.random(in: 0..<3, using: &random)]
        // A stream that lies and breaks off leaves what the next one skips: not the story that is told here.
        let isHonest = states.map { $0.forgedPer10000 == 0 && $0.droppedPer10000 == 0 } ?? true
        if restorePercent == 0, isHonest, chance(40) {
            retirements = Int.random(in: 1...3, using: &random)
            // Cut work is rewritten once all have acknowledged the cut, and the world waits for that.
            acknowledgeMilliseconds = min(acknowledgeMilliseconds, 2_000)
            absences = max(absences, 1)
            bounds.stateWindowBytes = max(bounds.stateWindowBytes, 2_000)
        }
        hostile = Hostile(seed: seed)
        if hostile != nil { makeRoomForHostile() }
        switch kind {
        case .plain: break
        case .mixed: mixVersions(seed: seed)
        case .thieves: letThievesIn(seed: seed)
        case .reverted: revertMachines(seed: seed)
        }
    }

    /// A window goes once there and back: with 600 bytes a second no state would come in time.
    mutating func widenStateWindow() {
        bounds.stateWindowBytes = max(bounds.stateWindowBytes, Int(delayMilliseconds.upperBound) * 4)
    }
}
