extension Histories {
    /// A few moves in every order, each performed at most once; a fair phase is checked behind each state on the way.
    package struct EveryOrder: Sendable {
        package let name: String
        /// What comes first, in this order.
        package let start: History
        package let moves: [Move]

        /// How far a search came.
        package struct Reach: Sendable {
            package var states = 0
            /// False if the search ended at its limit.
            package var isWhole = true
            package var found = Found()
        }

        /// Visits up to `limit` states, those with fewer moves first.
        package func search(_ rules: Rules = .standing, limit: Int) -> Reach {
            var world = World(devices: start.devices, guests: start.guests, rules: rules)
            for move in start.moves { world.perform(move) }
            var reach = Reach()
            var seen: Set<[Int]> = []
            var level: [(world: World, history: History, used: Bits)] = [(world, start, [])]
            while !level.isEmpty {
                var next: [(world: World, history: History, used: Bits)] = []
                for state in level {
                    for (index, move) in moves.enumerated() where !state.used.contains(index) {
                        var following = state
                        guard following.world.perform(move) else { continue }
                        following.used.insert(index)
                        following.history.moves.append(move)
                        guard seen.insert([following.world.key, following.used.hashValue]).inserted else { continue }
                        guard reach.states < limit else {
                            reach.isWhole = false
                            return reach
                        }
                        reach.states += 1
                        var end = following.world
                        if !end.isBroken { end.runFairPhase(away: start.away) }
                        reach.found.record(Run(history: following.history, world: end, seed: UInt64(reach.states)))
                        if !following.world.isBroken { next.append(following) }
                    }
                }
                level = next
            }
            return reach
        }

        /// Sets of moves for 2 to 4 devices.
        package static let all: [EveryOrder] = {
            let (a, b, c, d) = (0, 1, 2, 3)
            let two: [Move] = [.write(a, object: 0), .write(b, object: 1), .sync(a, b)]
            let three = two + [.write(c, object: 2), .sync(b, c), .sync(a, b)]
            let four = three + [.sync(c, d), .sync(b, c), .sync(a, b)]
            func phases(_ devices: Device...) -> [Move] {
                devices.flatMap { [.step($0, .promise), .step($0, .bound)] }
            }
            return [
                .init(
                    name: "two devices, one is put back", start: History(devices: 2, two + [.copy(a)]),
                    moves: [
                        .write(a, object: 0), .sync(a, b), .putBack(a), .write(a, object: 1), .sync(a, b),
                        .step(b, .holds), .step(b, .forget),
                    ]),
                .init(
                    name: "two devices, one is let go", start: History(devices: 2, away: [b], two),
                    moves: [
                        .propose(a, [b]), .step(a, .promise), .write(b, object: 0), .step(a, .retire), .sync(a, b),
                        .step(a, .bound), .write(b, object: 1), .sync(a, b), .step(b, .rewrite),
                    ]),
                .init(
                    name: "three devices, two branches", start: History(devices: 3, three + [.copy(a)]),
                    moves: [
                        .write(a, object: 0), .sync(a, b), .putBack(a), .write(a, object: 1), .sync(a, c),
                        .step(b, .holds), .step(c, .holds), .sync(b, c),
                    ]),
                .init(
                    name: "three devices, one is let go",
                    start: History(devices: 3, away: [c], three + [.propose(a, [c]), .sync(a, b)]),
                    moves: phases(a, b) + [
                        .sync(a, b), .step(b, .retire), .sync(a, b), .write(c, object: 0), .sync(b, c),
                    ]),
                .init(
                    name: "three devices, a release",
                    start: History(
                        devices: 3, away: [c],
                        three + [.propose(a, [c]), .sync(a, b), .step(a, .promise), .step(b, .promise)]),
                    moves: [
                        .sync(a, b), .step(a, .retire), .sync(a, b), .step(a, .bound), .step(b, .release),
                        .write(c, object: 0), .sync(b, c), .sync(a, c),
                    ]),
                .init(
                    name: "three devices, two proposals", start: History(devices: 3, three),
                    moves: [
                        .propose(a, [c]), .propose(c, [a]), .sync(a, b), .sync(b, c), .step(a, .promise),
                        .step(b, .promise), .step(c, .promise), .step(b, .retire),
                    ]),
                .init(
                    name: "four devices, one dies bound",
                    start: History(devices: 4, away: [d], four + [.propose(a, [d]), .sync(a, b), .sync(b, c)]),
                    moves: phases(a, b) + [.sync(a, b), .sync(b, c), .step(c, .promise), .step(c, .retire), .die(c)]),
                .init(
                    name: "four devices, a newcomer", start: History(devices: 3, guests: 1, three),
                    moves: [
                        .propose(a, [c]), .admit(d, by: c), .admit(d, by: a), .sync(a, b), .sync(b, d), .sync(c, d),
                        .step(a, .promise), .step(b, .promise), .write(d, object: 0),
                    ]),
            ]
        }()
    }
}
