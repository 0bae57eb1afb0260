package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel

// The way to one device, measured.
extension Agent {
    /// Measures a round trip over the session, and the time until the device says that this node's newest change is on its disk:
    /// it is asked for all that it holds, and announces nothing that is not durable. Nothing is written for it. Without a
    /// session it measures a TCP handshake.
    ///
    /// - Throws: `unknown_peer`, `not_paired`, `invalid_argument` for a name of several devices.
    package func ping(_ peer: String, timeoutMilliseconds: Int64) async throws(ControlError) -> PingResponse {
        let device = try pinged(peer, in: try await controlled { try await snapshot() })
        let before = try await controlled { try await askToPing(device) }
        let clock = ContinuousClock()
        let start = clock.now
        let deadline = start + .milliseconds(timeoutMilliseconds)
        let own = before.tips.filter { $0.replica.device == before.own }
        guard let first = before.peers.first(where: { $0.device == device }) else { throw Self.isNotThere(peer) }
        var answer = Self.response(first, device, before)
        while answer.connected {
            let version = peerSignal.version
            let now = try await controlled { try await snapshot() }
            guard let view = now.peers.first(where: { $0.device == device }) else { break }
            let isSame = view.connection == first.connection
            let measured = (answer.rttMilliseconds, answer.durableMilliseconds)
            answer = Self.response(view, device, now)
            answer.connected = isSame && answer.connected
            (answer.rttMilliseconds, answer.durableMilliseconds) = measured
            guard isSame else { break }
            if answer.rttMilliseconds == nil, view.pongs > first.pongs {
                answer.rttMilliseconds = view.newestRoundTrip.map { Double($0.nanoseconds / 1_000) / 1_000 }
            }
            if answer.durableMilliseconds == nil, view.wholeHaves > first.wholeHaves,
                let known = now.standings.first(where: { $0.device == device })?.known,
                own.allSatisfy({ known.next(of: $0.replica) >= $0.tip.next })
            {
                answer.durableMilliseconds = Double((clock.now - start) / .microseconds(1)) / 1_000
            }
            let isWhole = answer.rttMilliseconds != nil && answer.durableMilliseconds != nil
            if isWhole || clock.now >= deadline || peerSignal.isFinished { break }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in await peerSignal.wait(beyond: version) }
                // A pong alone signals nothing; the core has measured it.
                let next = min(deadline, clock.now + .milliseconds(10))
                group.addTask { try? await Task.sleep(until: next, clock: clock) }
                await group.next()
                group.cancelAll()
            }
        }
        if !answer.connected {
            let rest = max(.milliseconds(1), deadline - clock.now)
            if let probe = try await controlled({ try await probeWay(to: device, within: rest) }) {
                answer.address = probe.address
                answer.tcpMilliseconds = probe.microseconds.map { Double($0) / 1_000 }
                answer.tcpFailure = probe.failure
            }
        }
        return answer
    }

    /// True if the text names this device.
    func isOwn(_ text: String, _ now: AgentSnapshot) -> Bool {
        text == now.name || text == "\(now.own)" || text.uppercased() == now.own.shortID
    }

    func pinged(_ text: String, in now: AgentSnapshot) throws(ControlError) -> DeviceID {
        let view: PeerView
        do throws(ControlError) { view = try peer(text, in: now) } catch {
            guard error.code == .unknownPeer else { throw error }
            guard !isOwn(text, now) else {
                throw ControlError(
                    .invalidArgument, "\"\(text)\" is this device itself.",
                    hint: "Name another one: lanyard peers lists them.")
            }
            throw now.strangers.contains { Self.isMeant($0, by: text) } ? Self.isUnpaired(text) : Self.isNotThere(text)
        }
        guard let device = view.device else { throw Self.isUnpaired(text) }
        return device
    }

    private static func isUnpaired(_ text: String) -> ControlError {
        ControlError(
            .notPaired, "\"\(text)\" is not paired with this device.",
            hint: "Type `lanyard invite` here, and `lanyard join TICKET` on the other device.")
    }

    private static func isNotThere(_ text: String) -> ControlError {
        ControlError(.unknownPeer, "There is no device \"\(text)\".", hint: "`lanyard peers` lists them.")
    }

    private static func response(_ view: PeerView, _ device: DeviceID, _ now: AgentSnapshot) -> PingResponse {
        func time(_ tick: Tick?) -> Timestamp? {
            tick.map { Timestamp(millisecondsSinceEpoch: now.wallMilliseconds(at: $0)) }
        }
        var failure: PingResponse.Failure?
        if let code = view.lastFailure, let time = time(view.lastFailureAt) { failure = .init(code: code, time: time) }
        // No address is dialled then.
        let isOut = view.isBlocked || now.cuts.isBarred(device)
        return PingResponse(
            id: "\(device)", name: now.name(of: device), connected: view.state == .connected,
            address: view.endpoint.map(Self.text), via: view.via.flatMap(Peer.Via.init(rawValue:)), lastError: failure,
            nextAttempt: isOut ? nil : time(view.nextAttemptAt))
    }
}
