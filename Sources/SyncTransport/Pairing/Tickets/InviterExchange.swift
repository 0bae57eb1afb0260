import Foundation
import NIOCore
import SwiftProtobuf
import SyncModel

/// The inviter's side of one join.
///
/// `awaitingRequest` → `admitting` → `awaitingConfirmation` → `done`; every stage may end early.
final class InviterExchange {
    private enum Stage {
        case awaitingRequest
        case admitting
        case awaitingConfirmation
        case done
    }

    private let link: Link
    private let peer: PeerKey
    private let inviter: TicketInviter
    private var stage = Stage.awaitingRequest
    /// The id of the ticket that the device was admitted with.
    private var ticket: TicketID?
    /// A member here that may not know us yet: dialled now, it would turn us away.
    private var admitted: JoinedDevice?

    init(link: Link, peer: PeerKey, inviter: TicketInviter) {
        self.link = link
        self.peer = peer
        self.inviter = inviter
    }

    func received(_ payload: [UInt8]) {
        switch (stage, PairingFrames.decode(payload)) {
        case (.awaitingRequest, .joinRequest(let request)): answer(request)
        case (.awaitingConfirmation, .joinConfirmed):
            stage = .done
            if let ticket { inviter.confirm(ticket) }
            meet()
            link.close(.pairingDone)
        case (_, _): link.closeNow(.pairingMalformed)
        }
    }

    /// The link is gone; an admission under way goes on, its answer can be asked for again.
    func ended() {
        stage = .done
        meet()
    }

    private func meet() {
        guard let device = admitted else { return }
        admitted = nil
        inviter.met(device)
    }

    private func answer(_ request: Lanyard_Pairing_V1_JoinRequest) {
        guard let joiner = Introduction(request.joiner, subjectPublicKeyInfo: peer.subjectPublicKeyInfo) else {
            return link.closeNow(.pairingMalformed)
        }
        switch inviter.judge(request, from: joiner, host: link.remote.host) {
        case .failure(let refusal): refuse(refusal)
        case .success(let ticket):
            guard let device = joiner.joined(metAt: nil) else {
                inviter.release(ticket.id, usedBy: nil)
                return refuse(.notBound)
            }
            stage = .admitting
            link.extendGreeting(by: inviter.limits.pairingDeadline)
            admit(device, ticket, joinerProof: Array(request.proof))
        }
    }

    private func admit(_ device: JoinedDevice, _ ticket: IssuedTicket, joinerProof: [UInt8]) {
        let exchange = NIOLoopBound(self, eventLoop: link.eventLoop)
        let eventLoop = link.eventLoop
        let admit = inviter.admit
        Task {
            var isAdmitted = true
            do { try await admit(device, ticket) } catch { isAdmitted = false }
            eventLoop.execute { [isAdmitted] in
                exchange.value.finish(device, ticket, joinerProof: joinerProof, isAdmitted: isAdmitted)
            }
        }
    }

    private func finish(_ device: JoinedDevice, _ ticket: IssuedTicket, joinerProof: [UInt8], isAdmitted: Bool) {
        inviter.release(ticket.id, usedBy: isAdmitted ? device.deviceID : nil)
        if isAdmitted { admitted = device }
        guard stage == .admitting else { return meet() }
        guard isAdmitted else { return refuse(.notAdmitted) }
        self.ticket = ticket.id
        let introduction = Introduction(inviter.identity, inviter.profile())
        let proof = TicketProof.inviter(
            secret: ticket.secret, inviter: introduction, joinerKey: peer.subjectPublicKeyInfo, joinerProof: joinerProof
        )
        let accepted = Lanyard_Pairing_V1_JoinAccepted.with {
            $0.inviter = introduction.message
            $0.proof = Data(proof)
            $0.grant = MembershipGrant(role: ticket.role, founder: inviter.founder()).message
        }
        stage = .awaitingConfirmation
        link.extendGreeting(by: inviter.limits.pairingDeadline)
        link.send(PairingFrames.encode(.joinAccepted(accepted)))
    }

    private func refuse(_ refusal: JoinRefusal) {
        stage = .done
        link.send(PairingFrames.encode(.joinRefused(.with { $0.code = refusal.rawValue })))
        link.close(refusal.reason)
    }
}
