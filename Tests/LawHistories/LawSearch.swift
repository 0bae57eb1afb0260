import ReferenceModels

extension LawSubject {
    /// The smallest history found that breaks a law.
    package struct Failure: CustomStringConvertible, Sendable {
        package let subject: String
        package let history: History
        package let fault: Fault

        /// What to look at, and code to paste into a test.
        package var description: String {
            let code = history.description.split(separator: "\n").joined(separator: "\n            ")
            return """
                \(subject) breaks a law (seed \(history.seed)): \(fault)

                    @Test func `seed \(history.seed) of \(subject)`() throws {
                        try LawSubject.named("\(subject)").check(
                            \(code))
                    }

                """
        }
    }

    /// Runs the histories of `count` seeds from `first` on; the first that breaks a law is cut as short as it will go.
    package func search(from first: UInt64, count: Int) -> Failure? {
        for seed in first..<first + UInt64(count) {
            let history = history(seed: seed)
            if let fault = fault(of: history, .sampled) { return smallest(history, fault) }
        }
        return nil
    }

    /// Cuts steps out and makes the rest simpler as long as a law is broken.
    func smallest(_ history: History, _ found: Fault) -> Failure {
        var search = Shrinking(subject: self, history: history, fault: found)
        search.run()
        return Failure(subject: name, history: search.history, fault: search.fault)
    }
}

/// Makes a failing history smaller until nothing can be left out (Zeller: "Simplifying and Isolating Failure-Inducing
/// Input", 2002, in its plainest form).
struct Shrinking {
    let subject: LawSubject
    private(set) var history: History
    private(set) var fault: Fault
    /// Runs that are left: a search that takes minutes helps nobody.
    private var budget = 3000

    init(subject: LawSubject, history: History, fault: Fault) {
        self.subject = subject
        self.history = history
        self.fault = fault
    }

    mutating func run() {
        // From here on every state counts, or the one that fails might not be looked at again.
        guard let fault = subject.fault(of: history, .thorough) else { return }
        self.fault = fault
        var size = Int.max
        while size != measure, budget > 0 {
            size = measure
            dropSteps()
            dropReplicas()
            simplifySteps()
        }
    }

    private var measure: Int { history.description.utf8.count }

    private mutating func accept(_ steps: [Step], replicas: Int? = nil) -> Bool {
        guard budget > 0 else { return false }
        budget -= 1
        let candidate = History(seed: history.seed, replicas: replicas ?? history.replicas, steps: steps)
        guard let fault = subject.fault(of: candidate, .thorough) else { return false }
        history = candidate
        self.fault = fault
        return true
    }

    private mutating func dropSteps() {
        var length = max(1, history.steps.count / 2)
        while length > 0 {
            var start = 0
            while start < history.steps.count {
                var steps = history.steps
                steps.removeSubrange(start..<min(start + length, steps.count))
                if !accept(steps) { start += length }
            }
            length /= 2
        }
    }

    private mutating func dropReplicas() {
        while history.replicas > 1, accept(history.steps, replicas: history.replicas - 1) {}
    }

    private mutating func simplifySteps() {
        for index in history.steps.indices {
            var isSimpler = true
            while isSimpler {
                isSimpler = false
                for step in history.steps[index].simpler {
                    var steps = history.steps
                    steps[index] = step
                    if accept(steps) {
                        isSimpler = true
                        break
                    }
                }
            }
        }
    }
}

extension Step {
    fileprivate var simpler: [Step] {
        switch self {
        case .edit(let replica, let clock, let intents): Self.simpler(replica, clock, intents)
        case .deliver(let replica, let pick, let twice):
            (replica == 0 ? [] : [.deliver(to: 0, pick: pick, twice: twice)])
                + (pick == 0 ? [] : [.deliver(to: replica, pick: 0, twice: twice)])
                + (twice ? [.deliver(to: replica, pick: pick, twice: false)] : [])
        case .catchUp(let replica, let source): [.merge(replica, from: source)]
        case .merge: []
        case .join(let replica, let source, let ago): ago == 0 ? [] : [.join(replica, from: source, ago: 0)]
        case .post(let replica, let target): target == nil ? [] : [.post(replica, for: nil)]
        case .take(let replica, let pick): pick == 0 ? [] : [.take(replica, pick: 0)]
        case .copy(let replica, let pick): pick == 0 ? [] : [.copy(replica, pick: 0)]
        }
    }

    private static func simpler(_ replica: Int, _ clock: Clock, _ intents: [Intent]) -> [Step] {
        var steps: [Step] = []
        if replica != 0 { steps.append(.edit(0, clock, intents)) }
        // Who must be somebody else can be the next.
        if replica > 1 { steps.append(.edit(1, clock, intents)) }
        if clock != .wall(0) { steps.append(.edit(replica, .wall(0), intents)) }
        for index in intents.indices {
            if intents.count > 1 {
                var fewer = intents
                fewer.remove(at: index)
                steps.append(.edit(replica, clock, fewer))
            }
            for simple in intents[index].simpler {
                var simplified = intents
                simplified[index] = simple
                steps.append(.edit(replica, clock, simplified))
            }
        }
        return steps
    }
}
