package import SyncModel
import Synchronization

/// The bindings of add-facts that held when they were checked (`MemberFact.isBound`). A check is a P-256 signature, and to read
/// a large object with edits behind its snapshot asks it of every add-fact. It holds for good, so the table's facts are checked
/// once.
package final class BoundFacts: Sendable {
    /// All that a binding is about: a fact with another name or role has the same.
    private struct Proof: Hashable {
        let subjectPublicKeyInfo: [UInt8]
        let signingKey: [UInt8]
        let binding: [UInt8]
    }

    /// Far more than there are devices; some 300 bytes each.
    static let shared = BoundFacts(limit: 4_096)

    private let limit: Int
    private let proofs = Mutex<Set<Proof>>([])

    /// - Parameter limit: with one proof more, all are forgotten, and checked anew.
    package init(limit: Int) { self.limit = limit }

    package var count: Int { proofs.withLock(\.count) }

    /// Returns `fact.isBound`. A proof that does not hold is checked each time, and takes no room.
    package func isBound(_ fact: MemberFact) -> Bool {
        let proof = Proof(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding)
        if proofs.withLock({ $0.contains(proof) }) { return true }
        guard fact.isBound else { return false }
        proofs.withLock { proofs in
            if proofs.count >= limit { proofs.removeAll() }
            proofs.insert(proof)
        }
        return true
    }
}
