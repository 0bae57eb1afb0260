extension Histories {
    /// A history with its world after the fair phase.
    package struct Run: Sendable {
        package var world: World
        package var moves: [Move] = []
        package let seed: UInt64
    }

    /// Histories by chance, of 2 to 12 devices: silence, partitions, deaths, newcomers, disks that are put back.
    package static func run(seed: UInt64, devices: ClosedRange<Int> = 2...12, rules: Rules = .standing) -> Run {
        var random = Roles.Random(seed: seed)
        let small = min(devices.upperBound, 5)
        let isLarge = small < devices.upperBound && random.chance(15)
        let count = random.pick(Array(isLarge ? small + 1...devices.upperBound : devices.lowerBound...small))
        let guests = random.chance(30) ? 1 : 0
        var walk = Walk(
            run: Run(world: World(devices: count, guests: guests, rules: rules), seed: seed), random: random,
            count: count)
        walk.begin()
        for step in 0..<30 + 3 * count where walk.run.world.breaks.isEmpty { walk.move(step) }
        if walk.run.world.breaks.isEmpty { walk.run.world.runFairPhase(away: walk.silent) }
        return walk.run
    }

    private struct Walk {
        var run: Run
        var random: Roles.Random
        let count: Int
        var silent = Bits()
        var parts: [Bool] = []
        /// Devices that are proposed to be let go.
        var wanted: [Bits] = []
        /// A device whose disk is put back now and then.
        var patient: Device?
        /// How often devices meet, in percent.
        var meetings = 0

        mutating func perform(_ move: Move) {
            if run.world.perform(move) { run.moves.append(move) }
        }

        mutating func begin() {
            for device in 0..<count { perform(.write(device, object: device % 3)) }
            for _ in 0..<2 { for device in 1..<count { perform(.sync(device - 1, device)) } }
            for device in (1..<count).reversed() { perform(.sync(device - 1, device)) }
            let sizes = count < 4 ? [1] : [1, 1, 2]
            for _ in 0..<2 {
                wanted.append(Bits((0..<random.pick(sizes)).map { _ in random.below(count) }))
            }
            if random.chance(60) { silent = wanted[0] }
            if random.chance(60) { patient = random.below(count) }
            meetings = random.pick([12, 25, 40])
        }

        mutating func move(_ step: Int) {
            if random.chance(12) { parts = (0..<16).map { _ in random.chance(50) } }
            if random.chance(12) { parts = [] }
            if let patient, random.chance(14) { return disk(of: patient) }
            let device = random.pick(run.world.living)
            if random.chance(meetings) { return meet(device, step) }
            switch random.below(70) {
            case ..<12: perform(.write(device, object: random.below(3)))
            case ..<18: perform(.edit(device, of: random.below(count)))
            case ..<20: perform(.delete(device, object: random.below(3)))
            case ..<28: perform(.propose(device, random.pick(wanted) - [device]))
            case ..<30: if run.world.nodes.count > count { perform(.admit(count, by: device)) }
            case ..<31: if random.chance(30), run.world.living.count > 2 { perform(.die(device)) }
            case ..<33: perform(.step(device, .release))
            case ..<38: perform(.step(device, .forget))
            case ..<44: perform(.step(device, .holds))
            case ..<48: perform(.step(device, .rewrite))
            case _: perform(.step(device, random.pick([.promise, .retire, .bound])))
            }
        }

        /// The disk is copied, or put back, after which the device often goes on at once.
        mutating func disk(of patient: Device) {
            guard run.world.nodes[patient].isAlive else { return }
            if random.chance(40) {
                perform(.copy(patient))
                if random.chance(50) { perform(.write(patient, object: random.below(3))) }
            } else {
                perform(.putBack(patient))
                if random.chance(60) { perform(.write(patient, object: random.below(3))) }
            }
        }

        mutating func meet(_ device: Device, _ step: Int) {
            let other = random.pick(run.world.living)
            guard step <= 8 || silent.contains(device) == silent.contains(other),
                parts.isEmpty || parts[device] == parts[other]
            else { return }
            perform(.sync(device, other))
        }
    }
}
