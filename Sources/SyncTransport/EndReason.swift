/// The reason why a connection ended, or never came up. The raw values are stable codes: they stand in logs, metrics and `why`.
package enum EndReason: String, Sendable, Hashable, CaseIterable {
    // Ordinary ends.
    /// This side called `close`.
    case closedHere = "closed_here"
    /// This side stops.
    case shutdown
    /// The peer closed an established session.
    case closedByPeer = "closed_by_peer"
    /// The peer closed before its first frame was accepted: it stopped, or kept another connection.
    case closedBeforeHello = "closed_before_hello"
    /// The peer connected and closed before it had sent a byte: it measured the way (`SessionTransport.probe`), or looked for
    /// what listens here.
    case closedUnused = "closed_unused"
    /// The connection broke under an open session.
    case reset = "connection_reset"
    /// Bytes sent were not acknowledged in time (TCP_USER_TIMEOUT).
    case silent = "peer_silent"
    /// The interface that the connection went through is down, or has another address now.
    case interfaceDown = "interface_down"

    // A dial that reached no agent.
    /// A machine answers, but nothing listens on that port.
    case refused = "connection_refused"
    /// The peer did not answer in time.
    case timedOut = "no_answer"
    /// The network says that no machine has this address.
    case hostUnreachable = "host_unreachable"
    /// The address is not reachable through any interface of this machine.
    case networkUnreachable = "network_unreachable"
    /// The host name has no address.
    case hostUnknown = "host_unknown"
    case dialFailed = "dial_failed"

    // TLS.
    /// The bytes on the port were not TLS.
    case notTLS = "not_tls"
    /// A TLS version before 1.3.
    case oldTLS = "tls_version"
    /// The peer showed no certificate; a resumed TLS session ends here too.
    case noCertificate = "no_certificate"
    /// The peer showed a certificate without holding its key.
    case wrongKey = "wrong_key"
    /// The peer's key is not trusted here.
    case notPaired = "not_paired"
    /// The peer does not trust our key.
    case notPairedThere = "not_paired_there"
    /// The peer is this device itself.
    case ownDevice = "own_device"
    /// The peer did not agree on the protocol's name (ALPN).
    case wrongProtocol = "wrong_protocol"
    /// The peer ended TLS before it was up.
    case closedInHandshake = "closed_in_handshake"
    case tlsFailed = "tls_failed"

    // Deadlines.
    case handshakeTimedOut = "handshake_timeout"
    case helloTimedOut = "hello_timeout"
    /// A frame began and came slower than the least rate.
    case frameTimedOut = "frame_timeout"

    // Frames.
    case emptyFrame = "empty_frame"
    case oversizeFrame = "oversize_frame"
    case truncatedFrame = "truncated_frame"

    // Caps.
    case tooManyUnauthenticated = "too_many_unauthenticated"
    case tooManyFromAddress = "too_many_from_address"
    /// Too many connections from strangers of one network.
    case tooManyFromNetwork = "too_many_from_network"
    case tooManyFromDevice = "too_many_from_device"
    /// The peer reads so slowly that the bytes buffered for it reached their limit.
    case tooSlow = "peer_too_slow"

    // Pairing.
    case pairingDone = "pairing_done"
    /// The ticket presented was not issued here, or its proof is wrong.
    case ticketUnknown = "ticket_unknown"
    case ticketExpired = "ticket_expired"
    case ticketAlreadyUsed = "ticket_already_used"
    case tooManyAttempts = "too_many_attempts"
    case keyNotBound = "key_not_bound"
    /// This side could not write the joiner down.
    case notAdmitted = "not_admitted"
    case pairingTimedOut = "pairing_timeout"
    /// Bytes on the pairing protocol that are no frame of it, or out of turn.
    case pairingMalformed = "pairing_malformed"
}

extension EndReason {
    /// True if the peer was turned away. Refusals are counted by code and logged.
    package var isRefusal: Bool {
        switch self {
        case .closedHere, .shutdown, .closedByPeer, .closedBeforeHello, .closedUnused, .reset, .silent, .interfaceDown,
            .pairingDone,
            .refused,
            .timedOut, .hostUnreachable, .networkUnreachable, .hostUnknown, .dialFailed:
            false
        case .notTLS, .oldTLS, .noCertificate, .wrongKey, .notPaired, .notPairedThere, .ownDevice, .wrongProtocol,
            .closedInHandshake, .tlsFailed, .handshakeTimedOut, .helloTimedOut, .frameTimedOut, .emptyFrame,
            .oversizeFrame, .truncatedFrame, .tooManyUnauthenticated, .tooManyFromAddress, .tooManyFromNetwork,
            .tooManyFromDevice,
            .tooSlow, .ticketUnknown, .ticketExpired, .ticketAlreadyUsed, .tooManyAttempts, .keyNotBound, .notAdmitted,
            .pairingTimedOut, .pairingMalformed:
            true
        }
    }
}
