package import ControlAPI
import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// Whether all devices hold the same, and which does not.
extension Agent {
    /// Every other device of the space that was not retired; none where this one was revoked. A device in step by the core's word may still lack changes that are
    /// open: the store counts those, too. To be called on a reading thread.
    func standings(_ now: AgentSnapshot) throws(ControlError) -> [DeviceStanding] {
        guard !now.standings.isEmpty, !now.isRevoked else { return [] }
        let seen = lastSeen(now, try read { () throws(StoreError) in try store.addresses() })
        var standings: [DeviceStanding] = []
        for member in now.standings {
            let unsent = try member.known.map { known throws(ControlError) in
                try read { () throws(StoreError) in try store.changeCount(beyond: known) }
            }
            let admitted = now.membership.admission(of: member.device)?.wallMilliseconds
            let away = member.isConnected ? nil : seen[member.device] ?? admitted
            standings.append(
                DeviceStanding(
                    id: "\(member.device)", shortID: member.device.shortID, name: now.name(of: member.device),
                    state: unsent.map { $0 == 0 ? .inStep : .behind } ?? .unknown, connected: member.isConnected,
                    unsent: unsent.map { Int($0) }, awaySince: away.map(Timestamp.init(millisecondsSinceEpoch:)),
                    lastSeen: seen[member.device].map(Timestamp.init(millisecondsSinceEpoch:))))
        }
        return standings
    }

    /// Returns whether all devices are in step, by their standings and what is missing here, and the sentence that says it in
    /// every place where people read it.
    ///
    /// - Parameter incomplete: what is missing on this node.
    func step(
        _ now: AgentSnapshot, standings: [DeviceStanding], incomplete: Int
    ) -> (isInStep: Bool, sentence: String) {
        let isInStep =
            !now.isRevoked && incomplete == 0 && now.isInStepWithConnected && !now.isWritingAgain
            && standings.allSatisfy { $0.state == .inStep }
        let hasBlocked = now.members.contains { member in
            member.device != now.own && now.blocked.contains(member.device) && !now.cuts.isBarred(member.device)
        }
        let text = StandingText(
            standings, times: .local(now: Timestamp(millisecondsSinceEpoch: now.wallMilliseconds)))
        return (
            isInStep,
            text.sentence(
                isInStep: isInStep, absence: now.isRevoked ? .revoked : hasBlocked ? .blocked : .unpaired)
        )
    }

    /// Returns true if all attachments are here that should be.
    private func isComplete() async throws(ControlError) -> Bool {
        try await controlled { try await missingCount(of: .home) } == 0
    }

    /// Returns when this node holds all that it should, no device that was not retired lacks anything of it and at least `peers` are
    /// connected, or with `inStep` false after `timeoutMilliseconds`. It looks again after every
    /// change, and at the end of the time. Throws `read_only` where this device was revoked.
    ///
    /// - Parameter connectedOnly: devices without a session do not count.
    package func wait(
        peers least: Int?, connectedOnly: Bool, timeoutMilliseconds: Int64
    ) async throws(ControlError) -> WaitResponse {
        let clock = ContinuousClock()
        let start = clock.now
        let deadline = start + .milliseconds(timeoutMilliseconds)
        func waited() -> Double { Double((clock.now - start) / .milliseconds(1)) / 1_000 }
        while true {
            let (peerVersion, eventVersion) = (peerSignal.version, eventSignal.version)
            let now = try await controlled { try await snapshot() }
            if now.isRevoked { throw try await mayNotWrite(now, "it gets and sends nothing") }
            let isOver = clock.now >= deadline || eventSignal.isFinished
            let isLevel =
                now.isInStepWithConnected && !now.isWritingAgain
                && now.standings.allSatisfy { $0.state == .inStep || connectedOnly && !$0.isConnected }
            // Changes are counted only where the count decides or is shown: after each change of a peer that would cost too much.
            if isLevel || isOver {
                let all = try await reading { () throws(ControlError) in try standings(now) }
                let waitingFor = all.filter { $0.state != .inStep && ($0.connected || !connectedOnly) }
                let connected = now.peers.count { $0.state == .connected }
                if isLevel, waitingFor.isEmpty, connected >= (least ?? 0), try await isComplete() {
                    return WaitResponse(inStep: true, waitedSeconds: waited())
                }
                if isOver {
                    return WaitResponse(
                        inStep: false, waitedSeconds: waited(), waitingFor: waitingFor,
                        writingAgain: now.isWritingAgain)
                }
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in await peerSignal.wait(beyond: peerVersion) }
                group.addTask { [self] in await eventSignal.wait(beyond: eventVersion) }
                group.addTask { try? await Task.sleep(until: deadline, clock: clock) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    // MARK: Durability

    /// Returns when `count` devices, this one included, have said that they hold the operation on their disks, or with `reached`
    /// false after `timeoutMilliseconds`. Retired and blocked devices do not count. An operation that this node does not hold is
    /// waited for, too.
    package func waitUntilDurable(
        _ version: DotText, on count: Int, timeoutMilliseconds: Int64
    ) async throws(ControlError) -> DurabilityResponse {
        let clock = ContinuousClock()
        let start = clock.now
        let deadline = start + .milliseconds(timeoutMilliseconds)
        var replica: ReplicaID?
        while true {
            let peerVersion = peerSignal.version
            let now = try await controlled { try await snapshot() }
            let isOver = clock.now >= deadline || peerSignal.isFinished
            // By the store: what is written alone stays open, and the core has no tip of it yet.
            if replica == nil { replica = try await holder(of: version) }
            var devices: [String] = []
            if let replica {
                let holders = now.standings.filter { ($0.known?.next(of: replica) ?? 0) > version.counter }
                devices = ["\(now.own)"] + holders.map { "\($0.device)" }
            }
            if devices.count >= count || isOver {
                return DurabilityResponse(
                    reached: devices.count >= count, devices: devices,
                    waitedSeconds: Double((clock.now - start) / .milliseconds(1)) / 1_000)
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in await peerSignal.wait(beyond: peerVersion) }
                // An acknowledgement alone signals nothing.
                let next = min(deadline, clock.now + .milliseconds(10))
                group.addTask { try? await Task.sleep(until: next, clock: clock) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Returns the replica of an operation that is on this node's disk; nil if it is not.
    private func holder(of version: DotText) async throws(ControlError) -> ReplicaID? {
        try await reading { () throws(ControlError) in
            try read { () throws(StoreError) in
                try store.state().tips.first {
                    "\($0.replica)" == version.replica && $0.tip.next > version.counter
                }?.replica
            }
        }
    }
}
