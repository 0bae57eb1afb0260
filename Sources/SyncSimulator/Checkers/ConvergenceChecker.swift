import SyncModel

/// Once the faults end, all nodes come to hold the same and to show the same, and know it.
struct ConvergenceChecker: Checker {
    static let name = "convergence"

    mutating func ended(_ ending: WorldEnding) -> String? {
        guard let first = ending.nodes.first else { return nil }
        if let wrong = miscounted(ending) { return wrong }
        guard ending.healedAfterNanoseconds == nil else { return nil }
        for node in ending.nodes where node.vectorDigest != first.vectorDigest {
            return "node \(node.number) holds other changes than node \(first.number)"
        }
        for node in ending.nodes where node.stateDigest != first.stateDigest {
            return "node \(node.number) shows another state than node \(first.number)"
        }
        for node in ending.nodes where !node.isInStep || node.connected == 0 {
            return "node \(node.number) is not in step, with \(node.connected) peers connected"
        }
        return "the world came to rest too late"
    }

    mutating func stoodStill(_ ending: WorldEnding) -> String? { miscounted(ending) }

    private func miscounted(_ ending: WorldEnding) -> String? {
        ending.nodes.first { $0.stateDigest != $0.recomputedDigest }.map { node in
            "node \(node.number) keeps the digest \(node.stateDigest), and what it holds gives \(node.recomputedDigest)"
        }
    }
}
