/// The reason why an inviter refuses a join. The raw values travel in `JoinRefused` and stand in logs.
enum JoinRefusal: String, Error, CaseIterable {
    /// The ticket was not issued here, or the proof is not made with its secret.
    case unknownTicket = "ticket_unknown"
    case expired = "ticket_expired"
    case alreadyUsed = "ticket_already_used"
    /// Too many wrong proofs from this address within a minute.
    case tooManyAttempts = "too_many_attempts"
    /// The signing key is not bound to the device key.
    case notBound = "key_not_bound"
    /// The inviter could not write the joiner down.
    case notAdmitted = "not_admitted"

    /// The reason with which the connection that heard it ends.
    var reason: EndReason {
        switch self {
        case .unknownTicket: .ticketUnknown
        case .expired: .ticketExpired
        case .alreadyUsed: .ticketAlreadyUsed
        case .tooManyAttempts: .tooManyAttempts
        case .notBound: .keyNotBound
        case .notAdmitted: .notAdmitted
        }
    }
}
