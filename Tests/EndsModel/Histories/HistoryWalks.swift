extension Histories {
    /// Moves of some devices, which a fair phase follows.
    package struct History: Hashable, Sendable, CustomStringConvertible {
        /// Members from the start.
        package let devices: Int
        /// Devices that may be admitted.
        package let guests: Int
        /// Devices that are silent for the first part of the fair phase.
        package var away: Bits
        package var moves: [Move]

        package init(devices: Int, guests: Int = 0, away: Bits = [], _ moves: [Move] = []) {
            self.devices = devices
            self.guests = guests
            self.away = away
            self.moves = moves
        }

        /// Performs the moves that are possible. The fair phase follows unless something broke.
        package func run(_ rules: Rules = .standing) -> World {
            var world = World(devices: devices, guests: guests, rules: rules)
            for move in moves where !world.isBroken { world.perform(move) }
            if !world.isBroken { world.runFairPhase(away: away) }
            return world
        }

        /// The least part of the history that `isBroken` still holds for.
        package func shrunk(_ isBroken: (History) -> Bool) -> History {
            var least = self
            var index = moves.count - 1
            while index >= 0 {
                var shorter = least
                shorter.moves.remove(at: index)
                if isBroken(shorter) { least = shorter }
                index -= 1
            }
            var present = least
            present.away = []
            return isBroken(present) ? present : least
        }

        package var description: String { moves.map(\.description).joined(separator: "\n") }
    }

    /// A history with its world after the fair phase.
    package struct Run: Sendable {
        package var history: History
        package var world: World
        package let seed: UInt64
    }

    /// Histories by chance, of 2 to 12 devices: silence, partitions, deaths, newcomers, disks that are put back.
    package static func run(seed: UInt64, devices: ClosedRange<Int> = 2...12, rules: Rules = .standing) -> Run {
        var random = Roles.Random(seed: seed)
        let small = min(devices.upperBound, 5)
        let isLarge = small < devices.upperBound && random.chance(15)
        let count = random.pick(Array(isLarge ? small + 1...devices.upperBound : devices.lowerBound...small))
        let history = History(devices: count, guests: random.chance(30) ? 1 : 0)
        let world = World(devices: count, guests: history.guests, rules: rules)
        var walk = Walk(run: Run(history: history, world: world, seed: seed), random: random, count: count)
        walk.begin()
        for step in 0..<30 + 3 * count where !walk.run.world.isBroken { walk.move(step) }
        if !walk.run.world.isBroken { walk.run.world.runFairPhase(away: walk.run.history.away) }
        return walk.run
    }

    private struct Walk {
        var run: Run
        var random: Roles.Random
        let count: Int
        var parts: [Bool] = []
        /// Devices that are proposed to be let go.
        var wanted: [Bits] = []
        /// A device whose disk is put back now and then.
        var patient: Device?
        /// Two halves that let each other go, and a device between them.
        var isHalved = false
        /// How often devices meet, in percent.
        var meetings = 0

        mutating func perform(_ move: Move) {
            if run.world.perform(move) { run.history.moves.append(move) }
        }

        mutating func begin() {
            for device in 0..<count { perform(.write(device, object: device % 3)) }
            for _ in 0..<2 { for device in 1..<count { perform(.sync(device - 1, device)) } }
            for device in (1..<count).reversed() { perform(.sync(device - 1, device)) }
            let sizes = count < 4 ? [1] : [1, 1, 2]
            for _ in 0..<2 {
                wanted.append(Bits((0..<random.pick(sizes)).map { _ in random.below(count) }))
            }
            isHalved = count == 5 && random.chance(30)
            if isHalved { wanted = [[0, 1], [3, 4], [2]] }
            if !isHalved, random.chance(60) { run.history.away = wanted[0] }
            if random.chance(60) { patient = random.below(count) }
            meetings = random.pick([12, 25, 40])
        }

        mutating func move(_ step: Int) {
            if random.chance(12) { parts = (0..<16).map { _ in random.chance(50) } }
            if isHalved { parts = step > 20 ? (0..<16).map { $0 > 2 } : [] } else if random.chance(12) { parts = [] }
            if let patient, random.chance(14) { return disk(of: patient) }
            let device = random.pick(run.world.living)
            if random.chance(meetings) { return meet(device, step) }
            switch random.below(70) {
            case ..<12: perform(.write(device, object: random.below(3)))
            case ..<18: perform(.edit(device, of: random.below(count)))
            case ..<20: perform(.delete(device, object: random.below(3)))
            case ..<28: perform(.propose(device, random.pick(wanted) - [device]))
            case ..<30: if run.world.nodes.count > count { perform(.admit(count, by: device)) }
            case ..<31: if run.world.living.count > 2 { perform(.die(device)) }
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
            let silent = run.history.away
            guard step <= 8 || silent.contains(device) == silent.contains(other),
                parts.isEmpty || parts[device] == parts[other]
            else { return }
            perform(.sync(device, other))
        }
    }
}
