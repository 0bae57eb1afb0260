// Machines that are put back to an earlier moment while they run.
extension World {
    mutating func planReverts(until end: Int64) {
        guard let reverts = options.reverts else { return }
        for _ in 0..<reverts.count {
            queue.plan(.fault(.snapshot), at: Int64.random(in: 0..<end, using: &copyRandom))
        }
    }

    mutating func takeSnapshot() {
        guard let reverts = options.reverts, let node = reverts.nodes.randomElement(using: &copyRandom) else { return }
        guard nodes[node].isUp, nodes[node].isPaired, nodes[node].snapshot == nil else { return }
        nodes[node].snapshot = diskImage(of: node)
        let wait = Int64.random(in: reverts.milliseconds, using: &copyRandom) * 1_000_000
        planWrites([node], within: wait)
        queue.plan(.revert(node: node), at: now + wait)
    }

    /// Its memory goes back with its disk: it knows of no crash, and writes on where it was, often before it hears of others.
    mutating func revert(_ node: Int) {
        guard let reverts = options.reverts, let snapshot = nodes[node].snapshot else { return }
        nodes[node].snapshot = nil
        guard isFaulty, nodes[node].isUp, nodes[node].durable != snapshot.durable else { return }
        crash(node, losingPower: false, restores: false)
        trace.record(now, node, "is put back while it runs")
        copyCounts.reverts += 1
        nodes[node].writesOn = true
        putBack(node, snapshot)
        let span = Int64.random(in: reverts.milliseconds, using: &copyRandom) * 1_000_000
        var others = nodes.indices.filter { $0 != node }
        // Sometimes one other hears it, and builds on what it writes.
        if Int.random(in: 0..<3, using: &copyRandom) == 0, let listener = others.randomElement(using: &copyRandom) {
            others.removeAll { $0 == listener }
            planWrites([node, listener], within: span)
        }
        let ways = others.flatMap { [Way(from: node, to: $0), Way(from: $0, to: node)] }
        blocked.formUnion(ways)
        queue.plan(.unblock(ways), at: now + span)
        planWrites([node], within: span)
    }

    private mutating func planWrites(_ authors: [Int], within span: Int64) {
        for _ in 0..<Int.random(in: 1...4, using: &copyRandom) {
            guard let author = authors.randomElement(using: &copyRandom) else { return }
            queue.plan(.write(node: author), at: now + Int64.random(in: 0...span, using: &copyRandom))
        }
    }
}
