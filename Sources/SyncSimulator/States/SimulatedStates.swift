package import SyncCore
import SyncModel
package import SyncStore

/// The states that one process is taking and handing over.
package struct SimulatedStates {
    var stream: StagingStream?
    var sources: [StateID: StateSource] = [:]
    /// The pass of compaction that is under way.
    package var pass: CompactionPass?

    package init() {}

    /// Does what a core asks of its store about states; nil where nothing is answered.
    /// - Parameter join: takes in what is staged.
    package mutating func answer(
        _ effect: StateEffect, _ store: SQLiteStore, join: (SQLiteStore) throws(StoreError) -> JoinedState
    ) -> StateInput? {
        var id = StateID(rawValue: 0)
        do throws(StoreError) {
            switch effect {
            case .begin(let begun, let claims):
                id = begun
                let stream = try store.beginStaging(from: claims)
                self.stream = stream
                let request = stream.request
                return .begun(
                    id, since: request.since, stagedEvents: request.stagedEvents, hasObjects: request.asks)
            case .stage(let staged, let items):
                id = staged
                guard var stream = stream else { throw .refused(.incomplete) }
                try store.stage(items, of: &stream)
                self.stream = stream
                return .staged(id, isComplete: stream.isComplete)
            case .lookUp(let asked, let announcements):
                id = asked
                return .lookedUp(id, try store.areStaged(announcements))
            case .review(let reviewed):
                id = reviewed
                let (facts, tips, trust) = try store.stagedHistories()
                return .reviewed(id, facts: facts, tips: tips, trust: trust)
            case .join(let joined):
                id = joined
                return .joined(id, try join(store))
            case .discard:
                stream = nil
                try store.discardStaging()
                return nil
            case .weigh(let weighed, let since):
                id = weighed
                return .weighed(id, try store.weigh(since: since))
            case .open(let opened, let since, let stagedEvents, let asks, let claims):
                id = opened
                let source = try store.stateSource(
                    .init(since: since, stagedEvents: stagedEvents, asks: asks, claims: claims))
                sources[id] = source
                return .opened(id, vector: source.vector)
            case .read(let read, let bytes, let staged):
                id = read
                guard let source = sources[id] else { throw .closed }
                return .chunkRead(id, try source.chunk(byteBudget: bytes, staged: staged))
            case .close: return nil
            }
        } catch {
            if case .refused(let refusal) = error { return .refused(id, refusal) }
            return .failed(id, code: "\(error)")
        }
    }

    mutating func crash() {
        for source in sources.values { source.close() }
        (stream, sources, pass) = (nil, [:], nil)
    }
}

// The requests of a core to its store about states, carried out as the agent's driver does.
extension World {
    mutating func planState(_ node: Int, _ effect: StateEffect) {
        let generation = nodes[node].generation
        if case .close(let id) = effect { return nodes[node].states.sources.removeValue(forKey: id)?.close() ?? () }
        queue.plan(.state(node: node, generation: generation, effect), at: diskTime(node))
    }

    mutating func perform(_ node: Int, _ effect: StateEffect) {
        guard let store = nodes[node].store else { return }
        if isDying(during: effect) {
            if case .join = effect { dieJoining(node, store) }
            return crash(node, losingPower: false)
        }
        var states = nodes[node].states
        let answered = states.answer(effect, store) { store throws(StoreError) in try join(node, store) }
        nodes[node].states = states
        guard let input = answered else { return }
        // Durable and not yet told: a crash may come between.
        let answer = Event.input(node: node, generation: nodes[node].generation, .state(input))
        queue.plan(answer, at: now + stateDelay)
    }

    private var stateDelay: Int64 {
        mutating get { Int64.random(in: 0...1_000_000, using: &stateRandom) }
    }

    private mutating func isDying(during effect: StateEffect) -> Bool {
        switch effect {
        case .stage, .review, .join: return isFaulty && stateChance(per10000: options.states?.deathsPer10000 ?? 0)
        case .begin, .lookUp, .discard, .weigh, .open, .read, .close: return false
        }
    }

    /// Dies in the middle of the transaction, which must leave nothing behind; or behind it, where it has no such part.
    private mutating func dieJoining(_ node: Int, _ store: SQLiteStore) {
        guard let end = StateJoinPart.allCases.randomElement(using: &stateRandom) else { return }
        let commit = try? store.joinStaged(wallMilliseconds: wall(node)) { part throws(StoreError) in
            if part == end { throw .closed }
        }
        if let commit { _ = try? record(node, store, joined: commit) }
    }

    mutating func stateChance(per10000 share: Int) -> Bool {
        share > 0 && Int.random(in: 0..<10_000, using: &stateRandom) < share
    }

    private mutating func join(_ node: Int, _ store: SQLiteStore) throws(StoreError) -> JoinedState {
        try record(node, store, joined: try store.joinStaged(wallMilliseconds: wall(node)))
    }

    private mutating func record(
        _ node: Int, _ store: SQLiteStore, joined commit: Commit
    ) throws(StoreError) -> JoinedState {
        nodes[node].hasTakenState = true
        if copyCounts.reverts > 0 { nodes[node].mayMix = true }
        recordCommit(node, commit)
        let joined = try JoinedState(store, change: StoreChange(commit))
        for entry in joined.tips { nodes[node].durable.advance(entry.replica, to: entry.tip.next) }
        trace.record(now, node, "takes state, holds \(nodes[node].durable.entries.map(\.next)) \(commit.digest)")
        return joined
    }
}

extension JoinedState {
    /// The store as it is behind the transaction that joined a state.
    package init(_ store: SQLiteStore, change: StoreChange) throws(StoreError) {
        let state = try store.state()
        self.init(
            tips: state.tips.map { TipTable.Entry(replica: $0.replica, tip: $0.tip) }, firstHeld: state.firstHeld,
            floor: state.floor, change: change)
    }
}
