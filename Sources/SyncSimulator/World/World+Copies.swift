import SyncModel
import SyncStore

// Disks that are older than their machine, and disks that two machines run from.
extension World {
    mutating func planCopies(until end: Int64) {
        planReverts(until: end)
        guard let copies = options.copies else { return }
        let count = Int((copies.lostTailsPerMinute * Double(options.safetySeconds) / 60).rounded())
        for _ in 0..<count {
            queue.plan(.fault(.tail), at: Int64.random(in: 0..<end, using: &copyRandom))
        }
        // The bytes of attachments are not copied with the records of this world.
        guard options.blobs == nil else { return }
        for _ in 0..<copies.clones {
            queue.plan(.fault(.clone), at: Int64.random(in: 0..<end * 3 / 4, using: &copyRandom))
        }
    }

    /// Nil for a device that has not joined yet: put back, it would have to be paired anew by a person.
    mutating func diskImage(of node: Int) -> DiskImage? {
        guard let state = try? nodes[node].store?.state(), !state.additions.isEmpty else { return nil }
        // As `lanyard backup` does: two copies of open changes could be sealed in two ways.
        seal(node)
        return DiskImage(disk: nodes[node].disk.copy(), durable: nodes[node].durable, letIn: nodes[node].letIn)
    }

    /// A person puts an older state of the disk back, or the disk never had what it said that it had.
    mutating func putBack(_ node: Int, _ image: DiskImage) {
        nodes[node].disk = image.disk.copy()
        var elsewhere = VersionVector()
        for other in nodes where other.number != node { elsewhere.join(other.durable) }
        check { $0.restored(node: node, now: image.durable, elsewhere: elsewhere) }
        forgettings.append(Forgetting(device: nodes[node].device.id, now: image.durable, elsewhere: elsewhere))
        nodes[node].durable = image.durable
        // A member that the node has forgotten may be known to no other: users notice that, and pair them anew.
        for other in nodes[node].letIn.subtracting(image.letIn).sorted() {
            queue.plan(.pair(node, other), at: now + 2_000_000_000)
        }
        nodes[node].letIn = image.letIn
        if options.states != nil { copyCounts.besideStates += 1 }
    }

    // MARK: Lost tails

    mutating func beginTail(_ node: Int) {
        guard let copies = options.copies, nodes[node].tail == nil else { return }
        nodes[node].tail = diskImage(of: node)
        let span = copies.tailMilliseconds
        let wait = Int64.random(in: span.lowerBound * 1_000_000...span.upperBound * 1_000_000, using: &copyRandom)
        queue.plan(.cutTail(node: node), at: now + wait)
    }

    mutating func cutTail(_ node: Int) {
        guard let tail = nodes[node].tail else { return }
        nodes[node].tail = nil
        guard isFaulty, nodes[node].isUp, nodes[node].durable != tail.durable else { return }
        crash(node, losingPower: Bool.random(using: &copyRandom), restores: false)
        trace.record(now, node, "lost the tail of its disk")
        copyCounts.lostTails += 1
        putBack(node, tail)
    }

    // MARK: Clones

    /// The copy runs with the keys of the original, on a machine without its leases.
    mutating func clone(_ node: Int) {
        guard nodes.count < SimulatedDevice.all.count, nodes[node].isPaired, nodes[node].twinOf == nil,
            let image = diskImage(of: node)
        else { return }
        let number = nodes.count
        var twin = SimulatedNode(
            number: number, device: nodes[node].device, seed: copyRandom.next(), disk: image.disk)
        twin.durable = image.durable
        twin.letIn = image.letIn
        twin.hasTakenState = nodes[node].hasTakenState
        twin.twinOf = node
        if let versions = options.versions { twin.version = versions.later }
        nodes.append(twin)
        trace.record(now, node, "is copied to node \(number)")
        copyCounts.clones += 1
        if options.states != nil { copyCounts.besideStates += 1 }
        let end = options.safetySeconds * 1_000_000_000
        queue.plan(.start(node: number), at: now + Int64.random(in: 0...5_000_000_000, using: &copyRandom))
        for _ in 0..<max(3, options.appends / 5) where now < end {
            queue.plan(.write(node: number), at: Int64.random(in: now..<end, using: &copyRandom))
        }
    }

    /// A person gives each copy keys of its own, and lets it in: its data, and what only it has written, stay. The original's
    /// agent is started again, as it asks for.
    mutating func rekeyTwins() {
        for node in nodes.indices {
            guard let original = nodes[node].twinOf else { continue }
            crash(original, losingPower: false, restores: false)
            // Open changes are signed while the old keys are there.
            start(node)
            seal(node)
            crash(node, losingPower: false, restores: false)
            nodes[node].device = SimulatedDevice.all[node]
            nodes[node].twinOf = nil
            nodes[node].backup = nil
            trace.record(now, node, "has keys of its own")
            queue.plan(.pair(0, node), at: now + 1_000_000_000)
        }
    }
}
