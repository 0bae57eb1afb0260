extension Histories.World {
    /// Dead devices stay dead. The living meet again and again, do what they may, give up what cannot end, and let the
    /// dead go.
    /// Devices that are `away` come back after some rounds.
    package mutating func runFairPhase(away: Bits = []) {
        let works = worksOfLiving()
        for round in 0..<60 where !isFull {
            let before = nodes
            let present = round < 10 ? living.filter { !away.contains($0) } : living
            meet(present, round)
            for device in present { stepAll(device, round) }
            if !present.isEmpty { letGo(round < 10 ? away : [], by: present[round % present.count], round) }
            if nodes == before, round >= 10 || away.isEmpty, !isWaiting { break }
        }
        for device in living { checkNow(device) }
        if isFull { report(.endless, "\(facts.count) facts, \(changes.count) changes") } else { checkEnd(works) }
    }

    /// True if a proposal is open, a dead device is waited for, or a living one is not back.
    private var isWaiting: Bool {
        mutating get {
            guard let first = living.first else { return false }
            let verdict = verdict(nodes[first].facts)
            return verdict.live.contains { !$0.proposal.isFinal }
                || verdict.gone != verdict.members - Bits(living)
        }
    }

    /// One way along all of them and back: facts and changes of each come to each, unless a rule stops them.
    private mutating func meet(_ devices: [Device], _ round: Int) {
        let shift = round % max(1, devices.count)
        let stride = round % 3 == 2 ? devices.reversed() : devices
        let row = Array(stride[shift...] + stride[..<shift])
        let pairs = Array(zip(row, row.dropFirst()))
        for (one, other) in pairs + pairs.reversed() {
            releaseAtMeeting(one, other)
            perform(.sync(one, other))
        }
    }

    /// A member that is not bound gives a retirement up when it meets a device that this would let go.
    private mutating func releaseAtMeeting(_ one: Device, _ other: Device) {
        for (member, device) in [(one, other), (other, one)] {
            for (id, proposal) in verdict(nodes[member].facts).live
            where proposal.devices.contains(device) && proposal.isOpen(for: member) { state(.release(id), by: member) }
        }
    }

    private mutating func stepAll(_ device: Device, _ round: Int) {
        let steps: [Histories.Step] = [.holds, .rewrite, .promise, .retire, .bound] + (round % 4 == 1 ? [.forget] : [])
        for step in steps {
            for _ in 0..<4 where perform(.step(device, step)) {}
        }
        if round > 0, round % 4 == 0 { perform(.step(device, .release)) }
    }

    /// One device a round proposes to let the dead and the silent go.
    private mutating func letGo(_ away: Bits, by device: Device, _ round: Int) {
        let verdict = verdict(nodes[device].facts)
        let lost = verdict.remaining & (Bits(members) - Bits(living) | away)
        if round % 4 == 1, !lost.isEmpty { perform(.propose(device, lost)) }
    }
}
