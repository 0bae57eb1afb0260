package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel

// The way between two other devices, as one of them measured it.
extension Agent {
    /// Asks a device for the round trip that it measured last to another one, or for that of a TCP handshake if it has no session
    /// with that one.
    ///
    /// - Throws: `unknown_peer`, `not_paired`, `invalid_argument` for a name of several devices and for a link of this device to itself,
    ///   `timed_out` if no answer came.
    package func roundTrip(
        to peer: String, from other: String, timeoutMilliseconds: Int64
    ) async throws(ControlError) -> RoundTripResponse {
        let now = try await controlled { try await snapshot() }
        let asked = try pinged(other, in: now)
        let end = try isOwn(peer, now) ? now.own : pinged(peer, in: now)
        guard asked != end else {
            throw ControlError(
                .invalidArgument, "\"\(other)\" has no link to itself.",
                hint: "Name two devices: lanyard peers lists them.")
        }
        let session: UInt64
        do throws(PresenceBoard.Refusal) {
            session = try presence.join(LinkQuestion.topic)
        } catch { throw ControlError(error) }
        defer { presence.leave(session) }
        do throws(PresenceBoard.Refusal) {
            try presence.set(LinkQuestion(asked: asked, peer: end).value, of: session, in: LinkQuestion.topic)
        } catch { throw ControlError(error) }
        guard let answer = await answer(of: asked, to: session, within: .milliseconds(timeoutMilliseconds)) else {
            throw ControlError(
                .timedOut, "\(now.name(of: asked)) did not answer in time.",
                hint: "It is away, or its lanyard is of a version before this question: lanyard peers shows both.")
        }
        return RoundTripResponse(
            from: .init(id: "\(asked)", name: now.name(of: asked)),
            to: .init(id: "\(end)", name: end == now.own ? now.name : now.name(of: end)), connected: answer.connected,
            rttMilliseconds: answer.connected ? answer.roundTripMicroseconds.map { Double($0) / 1_000 } : nil,
            address: answer.connected ? nil : answer.address,
            tcpMilliseconds: answer.connected ? nil : answer.tcpMicroseconds.map { Double($0) / 1_000 },
            tcpFailure: answer.connected ? nil : answer.tcpFailure)
    }

    /// Returns the answer; at the end of the time also one whose device still measures.
    private func answer(of device: DeviceID, to session: UInt64, within patience: Duration) async -> LinkAnswer? {
        let clock = ContinuousClock()
        let deadline = clock.now + patience
        let signal = presence.signal
        while true {
            let version = signal.version
            let answer = presence.linkAnswer(of: device, to: session, asker: self.device)
            if let answer, answer.isMeasuring != true { return answer }
            guard clock.now < deadline, !signal.isFinished, !Task.isCancelled else { return answer }
            await signal.wait(beyond: version, atMost: deadline - clock.now)
        }
    }
}
