public import ControlAPI

extension LanyardClient {
    /// Opens the device for a pairing by typed codes, and calls `body` with each line of it, until `paired` or `failed`.
    ///
    /// Ending the task, or throwing from `body`, cancels the pairing. Throws `already_pairing` if another client pairs.
    public func pair(
        _ request: PairRequest = PairRequest(), _ body: (PairingLine) async throws -> Void
    ) async throws {
        var post = ClientRequest(.POST, "v1", "pairing")
        post.body = JSONEncoding.bytes(request)
        post.isRepeatable = false
        var isEnded = false
        try await readLines(of: post) { lines -> Never? in
            for line in lines {
                let line = try JSONDecoding.value(PairingLine.self, from: line, unknownKeys: .ignore)
                switch line {
                case .paired, .failed: isEnded = true
                case .waiting, .devices, .choose, .code, .confirmed: break
                }
                try await ClientConnection.handing { try await body(line) }
            }
            return nil
        }
        guard isEnded else {
            throw ControlError(
                .connectionLost, "The agent went away while it paired.",
                hint: "Start it again: lanyardd. Then `lanyard devices` tells whether the pairing was done.")
        }
    }

    /// Chooses the device to pair with, by its id, while several pair.
    @discardableResult
    public func choosePairing(device: String) async throws(ControlError) -> PairingStep {
        try await value(ClientRequest(.PUT, "v1", "pairing", "device"), body: PairingChoice(device: device))
    }

    /// Gives the pairing the six digits of the other screen.
    @discardableResult
    public func typePairing(code: String) async throws(ControlError) -> PairingStep {
        var request = ClientRequest(.PUT, "v1", "pairing", "code")
        request.isRepeatable = false
        return try await value(request, body: PairingCode(code: code))
    }
}
