package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel

/// The device that a person wants to pair with, from the words of a request.
package struct PairingWish: Sendable {
    let wish: PairingMachine.Wish
    /// The role that the other device gets if it joins.
    let role: Role
    /// The time at which its membership ends by itself.
    let until: Timestamp?
    var address: HostPort?

    /// A host name has at most 253 bytes, and a port six more with its colon.
    private static let longestWord = 259

    /// Throws `invalid_argument`.
    package init(_ request: PairRequest) throws(ControlError) {
        role = request.role ?? .writer
        until = request.until
        guard let word = request.device else {
            wish = .any
            return
        }
        guard (1...Self.longestWord).contains(word.utf8.count) else {
            throw ControlError(
                .invalidArgument, "A device is named by 1 to \(Self.longestWord) bytes.",
                hint: "Leave it out to pair with any device.")
        }
        // An IPv4 address alone means the usual port; a device name may look like a host name.
        let isIPv4 = word.contains(".") && word.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        let text = isIPv4 ? "\(word):\(AgentConfiguration.defaultPort)" : word
        if let address = try? HostPort(parsing: text), !address.host.contains("["), !address.host.contains("]") {
            self.address = address
            wish = .atNamedAddress
        } else {
            wish = .named(word)
        }
    }
}

// Pairing by typed codes, as the control API words it.
extension Agent {
    /// Throws `already_pairing` while a pairing runs.
    package func checkPairing() async throws(ControlError) {
        guard let view = try await controlled({ try await pairing() }), view.outcome == nil else { return }
        throw ControlError(agent: AgentError.alreadyPairing, directory: "")
    }

    /// Opens this device for a pairing, until it ends or `cancelPairing`. Throws `already_pairing`, `forbidden` for a role above
    /// the own, `read_only` on a reader, and `invalid_argument` for a time that is over.
    ///
    /// - Returns: the id of the pairing.
    package func openPairing(_ wish: PairingWish) async throws(ControlError) -> UInt64 {
        try await controlled {
            try await openPairing(
                wish.wish, at: wish.address.map { Endpoint(host: $0.host, port: UInt16($0.port)) },
                giving: MemberFact.Role(wish.role), until: wish.until?.secondsSinceEpoch)
        }
    }

    /// Chooses one of the devices that pair. Throws `not_pairing` and `unknown_device`.
    package func choosePairing(_ word: String) async throws(ControlError) {
        let view = try await runningPairing()
        guard view.code == nil else {
            throw ControlError(
                .notPairing, "The codes are shown already.", hint: "To choose another device, begin anew: lanyard pair")
        }
        guard let device = view.devices.compactMap(\.device).first(where: { "\($0)" == word }) else {
            throw ControlError(
                .unknownDevice, "No device with this id pairs right now.", hint: "Type there, too: lanyard pair")
        }
        try await controlled { try await stepPairing(view.id, .chose(device)) }
    }

    /// Gives the pairing the digits of the other screen. Throws `not_pairing`, and `invalid_argument` for a text that is no code:
    /// that ends nothing.
    package func typePairing(code text: String) async throws(ControlError) {
        let digits = text.filter { $0 != " " && $0 != "-" }
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ControlError(
                .invalidArgument, "A code has six digits.", hint: "Type the six digits on the other screen.")
        }
        let view = try await runningPairing()
        guard digits != view.code else {
            throw ControlError(
                .invalidArgument, "That is the code of this screen.", hint: "Type the six digits on the other screen.")
        }
        guard view.code != nil, !view.isConfirmed else {
            throw ControlError(
                .notPairing, "No code is asked for right now.", hint: "Wait until this device shows its own code.")
        }
        try await controlled { try await stepPairing(view.id, .typed(digits)) }
    }

    package func cancelPairing(_ pairing: UInt64) async { try? await stepPairing(pairing, .cancelled) }

    private func runningPairing() async throws(ControlError) -> PairingView {
        guard let view = try await controlled({ try await pairing() }), view.outcome == nil else {
            throw ControlError(.notPairing, "No pairing runs on this device.", hint: "Begin one: lanyard pair")
        }
        return view
    }
}
