import Crypto
import SyncModel

/// Facts that hold, of four devices: writers, then in the second four a reader, an admin and two readers.
private let facts: [MemberFact] = (0..<8).compactMap { number in
    let seed = [UInt8](repeating: UInt8(number % 4) + 1, count: 32)
    guard let device = try? P256.Signing.PrivateKey(rawRepresentation: seed),
        let signing = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)
    else { return nil }
    let signingKey = Array(signing.publicKey.rawRepresentation)
    guard let binding = try? device.signature(for: MemberFact.bindingMessage(signingKey: signingKey)) else {
        return nil
    }
    return MemberFact(
        subjectPublicKeyInfo: Array(device.publicKey.derRepresentation), signingKey: signingKey,
        binding: Array(binding.rawRepresentation), discoveryKey: seed,
        role: number < 4 ? .writer : number == 5 ? .admin : .reader, name: "device \(number)")
}

/// Any bytes as a member fact; and as a history of facts, which must give the same members forwards and backwards.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMember(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let fact = try? MemberFact(encoded: bytes, 0..<bytes.count) {
        precondition(fact.encoded == bytes, "a fact has two forms")
        _ = fact.isBound
    }
    var additions: [Membership.Addition] = []
    for byte in bytes.prefix(6) {
        let author = facts[Int(byte & 3)].device
        additions.append(
            Membership.Addition(author: author, fact: facts[Int(byte >> 2 & 7)], wallMilliseconds: Int64(byte >> 5)))
    }
    precondition(members(additions) == members(additions.reversed()), "members depend on the order")
    return 0
}

private func members(_ additions: [Membership.Addition]) -> Membership {
    var membership = Membership(own: facts[0], sinceMilliseconds: 0)
    for addition in additions { _ = membership.add(addition) }
    return membership
}
