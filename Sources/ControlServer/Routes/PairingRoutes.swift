import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// Pairing by typed codes.
struct PairingRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.post, "/v1/pairing") { [agent] request throws(ControlError) in
                let body = try await request.body(PairRequest.self)
                let wish = try PairingWish(body)
                // Before the answer begins, so that a refusal has a status of its own.
                try await agent.checkPairing()
                return request.stream(request.format == .lines ? .lines : .serverSentEvents) {
                    try await Self.follow(try await agent.openPairing(wish), of: agent, to: &$0)
                }
            },
            Route(.put, "/v1/pairing/device") { [agent] request throws(ControlError) in
                try await agent.choosePairing(try await request.body(PairingChoice.self).device)
                return .json(PairingStep())
            },
            Route(.put, "/v1/pairing/code") { [agent] request throws(ControlError) in
                try await agent.typePairing(code: try await request.body(PairingCode.self).code)
                return .json(PairingStep())
            },
        ]
    }

    /// Writes what happens in a pairing until its end. A client that goes away before cancels it.
    private static func follow(_ pairing: UInt64, of agent: Agent, to writer: inout StreamWriter) async throws {
        do {
            var lines = PairingLines(agent: agent)
            while true {
                let version = agent.pairingSignal.version
                guard let view = try await agent.pairing(pairing) else { return }
                let next = lines.next(view)
                if !next.isEmpty { try await writer.write(next.map { JSONEncoding.bytes($0) }) }
                if view.outcome != nil { return }
                try Task.checkCancellation()
                guard !agent.pairingSignal.isFinished else {
                    throw ControlError(.stopping, "The agent is stopping.", hint: "Start it again: lanyardd")
                }
                await agent.pairingSignal.wait(beyond: version)
                try Task.checkCancellation()
            }
        } catch {
            await agent.cancelPairing(pairing)
            throw error
        }
    }
}
