import ReferenceModels

extension History: CustomStringConvertible {
    /// As Swift code.
    package var description: String {
        let lines = steps.map { "        \($0),\n" }.joined()
        return "History(\n    seed: \(seed), replicas: \(replicas),\n    steps: [\n\(lines)    ])"
    }
}

extension Step: CustomStringConvertible {
    package var description: String {
        switch self {
        case .edit(let replica, let clock, let intents):
            ".edit(\(replica), \(clock), [\(intents.map(\.description).joined(separator: ", "))])"
        case .deliver(let replica, let pick, let twice): ".deliver(to: \(replica), pick: \(pick), twice: \(twice))"
        case .catchUp(let replica, let source): ".catchUp(\(replica), from: \(source))"
        case .merge(let replica, let source): ".merge(\(replica), from: \(source))"
        case .join(let replica, let source, let ago): ".join(\(replica), from: \(source), ago: \(ago))"
        case .post(let replica, let target): ".post(\(replica), for: \(target.map { "\($0)" } ?? "nil"))"
        case .take(let replica, let pick): ".take(\(replica), pick: \(pick))"
        case .copy(let replica, let pick): ".copy(\(replica), pick: \(pick))"
        }
    }
}

extension Clock: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wall(let milliseconds): ".wall(\(milliseconds))"
        case .forged(let stamp): ".forged(\(stamp))"
        }
    }
}
