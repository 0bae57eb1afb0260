import Crypto
import SyncModel

private let secret = [UInt8](repeating: 7, count: Ticket.secretByteCount)
private let inviterKey = [UInt8](repeating: 1, count: 91)
private let joinerKey = [UInt8](repeating: 2, count: 91)

/// Any bytes as a ticket's text, and as a frame of the pairing protocol from a device whose key TLS has proved: nothing traps, what
/// is taken is written so that it reads the same, and a proof holds for one introduction only.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPairing(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    ticket(String(decoding: bytes, as: UTF8.self))
    guard let body = PairingFrames.decode(bytes) else { return 0 }
    precondition(PairingFrames.decode(PairingFrames.encode(body)) == body, "a frame reads back as another")
    switch body {
    case .joinRequest(let request):
        _ = TicketID(bytes: request.ticket)
        guard let joiner = introduction(Introduction(request.joiner, subjectPublicKeyInfo: joinerKey)) else { break }
        if TicketProof.isJoiner(Array(request.proof), secret: secret, inviterKey: inviterKey, joiner: joiner) {
            precondition(!isJoiner(request, otherwise: joiner), "a proof holds for two introductions")
        }
    case .joinAccepted(let accepted):
        guard let inviter = introduction(Introduction(accepted.inviter, subjectPublicKeyInfo: inviterKey)) else {
            break
        }
        _ = TicketProof.isInviter(
            Array(accepted.proof), secret: secret, inviter: inviter, joinerKey: joinerKey, joinerProof: [])
    case .joinRefused, .joinConfirmed: break
    }
    return 0
}

private func ticket(_ text: String) {
    if let address = HostPort(text: text) {
        precondition(HostPort(text: address.description) == address, "an address reads back as another")
    }
    do throws(TicketError) {
        let ticket = try Ticket(text: text)
        precondition(ticket.text.utf8.count <= 80)
        precondition((try? Ticket(text: ticket.text)) == ticket, "a ticket reads back as another")
    } catch {
        precondition(!error.message.isEmpty && !error.hint.isEmpty)
    }
}

private func introduction(_ introduction: Introduction?) -> Introduction? {
    guard let introduction else { return nil }
    let key = introduction.subjectPublicKeyInfo
    precondition(Introduction(introduction.message, subjectPublicKeyInfo: key) == introduction)
    if let device = introduction.joined(metAt: nil) { _ = device.memberFact(role: .writer).isBound }
    return introduction
}

private func isJoiner(_ request: Lanyard_Pairing_V1_JoinRequest, otherwise joiner: Introduction) -> Bool {
    var message = joiner.message
    message.name += "x"
    guard let other = Introduction(message, subjectPublicKeyInfo: joinerKey) else { return false }
    return TicketProof.isJoiner(Array(request.proof), secret: secret, inviterKey: inviterKey, joiner: other)
}
