import Crypto
import SyncModel

private let secret = [UInt8](repeating: 7, count: Ticket.secretByteCount)
private let inviterKey = [UInt8](repeating: 1, count: 91)
private let joinerKey = [UInt8](repeating: 2, count: 91)

/// Any bytes as a ticket's text, and as a frame of either pairing protocol from a device whose key TLS has proved: nothing traps,
/// what is taken is written so that it reads the same, a proof holds for one introduction only, and two screens show two codes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPairing(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    ticket(String(decoding: bytes, as: UTF8.self))
    codes(bytes)
    offer(bytes)
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
        if let grant = MembershipGrant(accepted.grant) {
            precondition(MembershipGrant(grant.message) == grant, "a grant reads back as another")
        }
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

private func codes(_ bytes: [UInt8]) {
    guard let frame = CodesFrames.decode(bytes) else { return }
    precondition(CodesFrames.decode(CodesFrames.encode(frame)) == frame, "a frame of codes reads back as another")
    switch frame {
    case .offer(let statement): offer(statement)
    case .message(.commitment(let bytes)), .message(.answer(let bytes)), .message(.opening(let bytes)):
        precondition(bytes.count == PairingTranscript.nonceByteCount)
    case .message(.confirmed), .message(.admitted), .message(.ended): break
    }
}

/// Bytes as the offer of the device that has the joiner's key.
private func offer(_ statement: [UInt8]) {
    guard let (said, memberCount, grant) = CodesFrames.readOffer(statement, key: joinerKey), introduction(said) != nil
    else { return }
    let written = CodesFrames.offer(said, memberCount: memberCount, grant: grant)
    guard let again = CodesFrames.readOffer(written, key: joinerKey) else {
        preconditionFailure("an offer does not read back")
    }
    precondition(
        again.introduction == said && again.memberCount == memberCount && again.grant == grant,
        "an offer reads back as another")
    let own = PairingTranscript.Side(subjectPublicKeyInfo: inviterKey, statement: written)
    let transcript = PairingTranscript(
        own, PairingTranscript.Side(subjectPublicKeyInfo: joinerKey, statement: statement))
    let nonce = transcript.commitment(to: Array(statement.prefix(PairingTranscript.nonceByteCount)))
    let codes = transcript.codes(committerNonce: nonce, answererNonce: transcript.commitment(to: nonce))
    precondition(codes.committer != codes.answerer, "both screens show one code")
    for code in [codes.committer, codes.answerer] {
        precondition(code.utf8.count == 6 && code.utf8.allSatisfy { (0x30...0x39).contains($0) })
    }
}
