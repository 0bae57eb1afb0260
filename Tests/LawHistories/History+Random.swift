package import ReferenceModels

extension History {
    /// The history that belongs to a seed, for a value of this shape.
    package init(seed: UInt64, of shape: Shape) {
        var random = SeededGenerator(seed: seed)
        // Small histories find most; a few long ones find what needs many things to come together.
        let length = random.once(in: 400) ? 150 + random.below(150) : 6 + random.below(27)
        let intents = IntentSource(of: shape, &random)
        let replicas = 3 + random.below(4)
        // Some histories are full of one kind of arrival: all by operations, all by states, all by deltas, or mixed.
        let flavour = random.below(5)
        let hasForgers = random.once(in: 8)
        var steps: [Step] = []
        steps.reserveCapacity(length)
        for _ in 0..<length {
            let replica = random.below(replicas)
            if random.below(100) < 45 {
                steps.append(
                    .edit(replica, .random(&random, isForged: hasForgers && random.once(in: 4)), intents.next(&random)))
            } else if hasForgers, random.once(in: 4) {
                steps.append(.copy(replica, pick: random.below(64)))
            } else {
                steps.append(.arrival(to: replica, of: replicas, flavour: flavour, &random))
            }
        }
        self.init(seed: seed, replicas: replicas, steps: steps)
    }
}

extension Step {
    fileprivate static func arrival(
        to replica: Int, of replicas: Int, flavour: Int, _ random: inout SeededGenerator
    ) -> Step {
        let from = (replica + 1 + random.below(replicas - 1)) % replicas
        let weights =
            switch flavour {
            case 0: [8, 3, 0, 0, 0, 0]
            case 1: [0, 0, 8, 0, 2, 3]
            case 2: [0, 0, 0, 8, 3, 4]
            case _: [4, 2, 3, 3, 2, 3]
            }
        var number = random.below(weights.reduce(0, +))
        for (kind, weight) in weights.enumerated() {
            guard number >= weight else {
                switch kind {
                case 0: return .deliver(to: replica, pick: random.below(16), twice: random.once(in: 4))
                case 1: return .catchUp(replica, from: from)
                case 2: return .merge(replica, from: from)
                case 3: return .join(replica, from: from, ago: random.once(in: 3) ? random.below(6) : 0)
                case 4: return .post(replica, for: random.once(in: 2) ? from : nil)
                case _: return .take(replica, pick: random.below(16))
                }
            }
            number -= weight
        }
        return .catchUp(replica, from: from)
    }
}

extension Clock {
    /// Mostly a few milliseconds from the others; now and then years off, at the ends of what a clock can show, or stuck.
    fileprivate static func random(_ random: inout SeededGenerator, isForged: Bool) -> Clock {
        let now: Int64 = 1_700_000_000_000
        if isForged { return .forged(random.once(in: 2) ? UInt64(random.below(4)) : UInt64(now + 5) << 16) }
        switch random.below(12) {
        case 0: return .wall(0)
        case 1: return .wall(now - 31_536_000_000)
        case 2: return .wall(now + 31_536_000_000)
        case 3: return .wall(random.once(in: 4) ? .max : .min)
        case _: return .wall(now + Int64(random.below(6)))
        }
    }
}
