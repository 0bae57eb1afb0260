import Foundation
import SwiftProtobuf
package import SyncModel

/// A frame of a join by ticket, as its two sides mean it.
package enum TicketFrame {
    case request(TicketRequest)
    case accepted(TicketAcceptance)
    /// The raw value of a `JoinRefusal`, or a later version's.
    case refused(code: String)
    case confirmed

    package var encoded: [UInt8] {
        switch self {
        case .request(let request): PairingFrames.encode(.joinRequest(request.message))
        case .accepted(let acceptance): PairingFrames.encode(.joinAccepted(acceptance.message))
        case .refused(let code): PairingFrames.encode(.joinRefused(.with { $0.code = code }))
        case .confirmed: PairingFrames.encode(.joinConfirmed(Lanyard_Pairing_V1_JoinConfirmed()))
        }
    }

    /// Nil for bytes that are no frame, one that this version does not know, or fields outside their limits.
    ///
    /// - Parameter key: the DER of the sender's key, which TLS proved.
    package init?(_ payload: [UInt8], key: [UInt8]) {
        switch PairingFrames.decode(payload) {
        case .joinRequest(let message):
            guard let request = TicketRequest(message, key: key) else { return nil }
            self = .request(request)
        case .joinAccepted(let message):
            guard let acceptance = TicketAcceptance(message, key: key) else { return nil }
            self = .accepted(acceptance)
        case .joinRefused(let refused): self = .refused(code: refused.code)
        case .joinConfirmed: self = .confirmed
        case nil: return nil
        }
    }
}

/// The joiner's question: it names a ticket, and proves that it has the secret.
package struct TicketRequest {
    /// The bytes of a `TicketID`, if it is one.
    package let ticket: [UInt8]
    let joiner: Introduction
    let proof: [UInt8]

    init(_ ticket: Ticket, inviterKey: [UInt8], joiner: Introduction) {
        self.ticket = ticket.id.bytes
        self.joiner = joiner
        proof = TicketProof.joiner(secret: ticket.secret, inviterKey: inviterKey, joiner: joiner)
    }

    /// - Parameter fact: what a member fact says of the joiner.
    package init(_ ticket: Ticket, inviterKey: [UInt8], joiner fact: MemberFact, addresses: [HostPort]) {
        self.init(ticket, inviterKey: inviterKey, joiner: Introduction(fact, addresses))
    }

    fileprivate init?(_ message: Lanyard_Pairing_V1_JoinRequest, key: [UInt8]) {
        guard let joiner = Introduction(message.joiner, subjectPublicKeyInfo: key) else { return nil }
        self.joiner = joiner
        ticket = Array(message.ticket)
        proof = Array(message.proof)
    }

    fileprivate var message: Lanyard_Pairing_V1_JoinRequest {
        .with {
            $0.ticket = Data(ticket)
            $0.joiner = joiner.message
            $0.proof = Data(proof)
        }
    }

    package func isProven(secret: [UInt8], inviterKey: [UInt8]) -> Bool {
        TicketProof.isJoiner(proof, secret: secret, inviterKey: inviterKey, joiner: joiner)
    }

    /// The device that asks; nil unless its signing key is bound to its key.
    package var device: JoinedDevice? { joiner.joined(metAt: nil) }
}

/// The inviter's answer: the joiner is a member there.
package struct TicketAcceptance {
    private let inviter: Introduction
    private let proof: [UInt8]
    /// Nil from a version before roles.
    private let grant: MembershipGrant?

    init(of request: TicketRequest, secret: [UInt8], inviter: Introduction, grant: MembershipGrant) {
        self.inviter = inviter
        self.grant = grant
        proof = TicketProof.inviter(
            secret: secret, inviter: inviter, joinerKey: request.joiner.subjectPublicKeyInfo,
            joinerProof: request.proof)
    }

    /// - Parameter fact: what a member fact says of the inviter.
    package init(
        of request: TicketRequest, secret: [UInt8], inviter fact: MemberFact, addresses: [HostPort],
        grant: MembershipGrant
    ) {
        self.init(of: request, secret: secret, inviter: Introduction(fact, addresses), grant: grant)
    }

    fileprivate init?(_ message: Lanyard_Pairing_V1_JoinAccepted, key: [UInt8]) {
        let grant = message.hasGrant ? MembershipGrant(message.grant) : nil
        guard let inviter = Introduction(message.inviter, subjectPublicKeyInfo: key),
            !message.hasGrant || grant != nil
        else { return nil }
        self.inviter = inviter
        self.grant = grant
        proof = Array(message.proof)
    }

    fileprivate var message: Lanyard_Pairing_V1_JoinAccepted {
        .with {
            $0.inviter = inviter.message
            $0.proof = Data(proof)
            if let grant { $0.grant = grant.message }
        }
    }

    /// The inviter as this answer shows it; nil unless it answers this request with the ticket's secret, and its signing key is
    /// bound to its key.
    package func device(answering request: TicketRequest, secret: [UInt8], metAt: HostPort?) -> JoinedDevice? {
        guard
            TicketProof.isInviter(
                proof, secret: secret, inviter: inviter, joinerKey: request.joiner.subjectPublicKeyInfo,
                joinerProof: request.proof)
        else { return nil }
        return inviter.joined(metAt: metAt, grant: grant)
    }
}

extension Introduction {
    fileprivate init(_ fact: MemberFact, _ addresses: [HostPort]) {
        subjectPublicKeyInfo = fact.subjectPublicKeyInfo
        signingKey = fact.signingKey
        binding = fact.binding
        discoveryKey = fact.discoveryKey
        name = fact.name
        self.addresses = addresses.map(\.description)
    }
}
