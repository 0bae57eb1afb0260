/// The reason why a join failed. Every one has a stable code and a next step.
package enum JoinError: Error, Sendable, Equatable {
    case expired
    /// The ticket was made by this device.
    case ownTicket
    /// The ticket names no address, and no other is known.
    case noAddresses
    /// The dials to all addresses failed; the reason for each.
    case nobodyAnswered([Attempt])
    /// The device that answered is not the one that made the ticket.
    case wrongDevice(address: String)
    /// The right device answered, but its invitations are over.
    case notInviting(address: String)
    /// The inviter said no, with its code.
    case refused(code: String)
    /// The inviter could not prove that it made the ticket, or spoke out of turn.
    case badAnswer
    /// The connection ended before the inviter had answered.
    case interrupted(EndReason)
    /// The inviter could not be written down here.
    case notAdmitted

    package struct Attempt: Sendable, Equatable {
        package let address: String
        package let reason: EndReason
    }

    package var code: String {
        switch self {
        case .expired: "ticket_expired"
        case .ownTicket: "ticket_own"
        case .noAddresses: "ticket_without_address"
        case .nobodyAnswered: "nobody_answered"
        case .wrongDevice: "wrong_device"
        case .notInviting: "not_inviting"
        case .refused(let code): code
        case .badAnswer: "bad_answer"
        case .interrupted: "join_interrupted"
        case .notAdmitted: "not_admitted"
        }
    }

    package var message: String {
        switch self {
        case .expired, .refused("ticket_expired"): "This ticket has expired."
        case .ownTicket: "This ticket was made by this device itself."
        case .noAddresses: "This ticket holds no address to dial, and no other agent was found on the network."
        case .nobodyAnswered(let attempts):
            "No device answered at "
                + attempts.map { "\($0.address) (\($0.reason.rawValue))" }.joined(separator: ", ") + "."
        case .wrongDevice(let address): "At \(address) another device answered than the one that made this ticket."
        case .notInviting(let address): "The device at \(address) has no open invitation."
        case .refused("ticket_already_used"): "Another device has joined with this ticket."
        case .refused("ticket_unknown"): "The inviter does not know this ticket."
        case .refused("too_many_attempts"): "Too many wrong tickets came from this address within a minute."
        case .refused(let code): "The inviter refused (\(code))."
        case .badAnswer: "What answered could not prove that it made this ticket."
        case .interrupted(let reason): "The connection ended before the inviter had answered (\(reason.rawValue))."
        case .notAdmitted: "The inviter could not be written down here."
        }
    }

    package var hint: String {
        switch self {
        case .expired, .notInviting, .refused("ticket_expired"), .refused("ticket_already_used"),
            .refused("ticket_unknown"), .badAnswer:
            "Ask for a new one: `lanyard invite` on a device that is in."
        case .noAddresses:
            "Say where the inviter is: lanyard peers add HOST:PORT. Then try the same ticket again."
        case .ownTicket: "Type `lanyard join` with it on the other device."
        case .nobodyAnswered, .wrongDevice:
            "Is the inviter's agent running, and are both devices on one network? `lanyard why` there tells more. At another "
                + "address: lanyard peers add HOST:PORT, then the same ticket again."
        case .refused("too_many_attempts"): "Wait a minute and try again."
        case .refused("not_admitted"):
            "If this device was revoked, an admin has to invite it. Else see `lanyard logs` there, and try the same ticket again."
        case .refused, .interrupted: "Try the same ticket again; it stays yours until it expires."
        case .notAdmitted: "See `lanyard logs` and `lanyard doctor`, then try the same ticket again."
        }
    }
}
