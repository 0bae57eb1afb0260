import NIOCore
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
        switch (stage, TicketFrame(payload, key: peer.subjectPublicKeyInfo)) {
        case (.awaitingRequest, .request(let request)): answer(request)
        case (.awaitingConfirmation, .confirmed):
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

    private func answer(_ request: TicketRequest) {
        switch inviter.judge(request, host: link.remote.host) {
        case .failure(let refusal): refuse(refusal)
        case .success(let ticket):
            guard let device = request.device else {
                inviter.release(ticket.id, usedBy: nil)
                return refuse(.notBound)
            }
            stage = .admitting
            link.extendGreeting(by: inviter.limits.pairingDeadline)
            admit(device, ticket, request)
        }
    }

    private func admit(_ device: JoinedDevice, _ ticket: IssuedTicket, _ request: TicketRequest) {
        let exchange = NIOLoopBound(self, eventLoop: link.eventLoop)
        let eventLoop = link.eventLoop
        let admit = inviter.admit
        Task {
            var isAdmitted = true
            do { try await admit(device, ticket) } catch { isAdmitted = false }
            eventLoop.execute { [isAdmitted] in
                exchange.value.finish(device, ticket, request, isAdmitted: isAdmitted)
            }
        }
    }

    private func finish(_ device: JoinedDevice, _ ticket: IssuedTicket, _ request: TicketRequest, isAdmitted: Bool) {
        inviter.release(ticket.id, usedBy: isAdmitted ? device.deviceID : nil)
        if isAdmitted { admitted = device }
        guard stage == .admitting else { return meet() }
        guard isAdmitted else { return refuse(.notAdmitted) }
        self.ticket = ticket.id
        let acceptance = TicketAcceptance(
            of: request, secret: ticket.secret, inviter: Introduction(inviter.identity, inviter.profile()),
            grant: MembershipGrant(role: ticket.role, founder: inviter.founder()))
        stage = .awaitingConfirmation
        link.extendGreeting(by: inviter.limits.pairingDeadline)
        link.send(TicketFrame.accepted(acceptance).encoded)
    }

    private func refuse(_ refusal: JoinRefusal) {
        stage = .done
        link.send(TicketFrame.refused(code: refusal.rawValue).encoded)
        link.close(refusal.reason)
    }
}
