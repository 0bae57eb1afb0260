import Crypto
import SyncModel

/// The name under which a write may be asked for again, and what was asked for under it.
///
/// A write whose key is remembered is answered with what it was answered first, and nothing is written. A key is remembered
/// from the commit of its write on, in the same transaction, for a day, and at most `rememberedCount` of them, the newest.
package struct WriteKey: Sendable, Hashable {
    /// The first 16 bytes of the SHA-256 of the key's text.
    package let name: [UInt8]
    /// The same of the request: another request under the same key is refused.
    package let request: [UInt8]

    package static let rememberedMilliseconds: Int64 = 86_400_000
    package static let rememberedCount: Int64 = 100_000

    package init(text: String, request: [UInt8]) {
        name = Array(SHA256.hash(data: Array(text.utf8)).prefix(16))
        self.request = Array(SHA256.hash(data: request).prefix(16))
    }

    /// A key as it is stored.
    init(name: [UInt8], request: [UInt8]) {
        self.name = name
        self.request = request
    }
}

/// The stored answer to a write with a key.
package struct AnsweredWrite: Sendable, Equatable {
    package let key: WriteKey
    /// This node's clock then.
    package let wallMilliseconds: Int64
    package let outcome: WriteOutcome

    package init(key: WriteKey, wallMilliseconds: Int64, outcome: WriteOutcome) {
        self.key = key
        self.wallMilliseconds = wallMilliseconds
        self.outcome = outcome
    }

    /// Nil once its time is over.
    func remembered(at wallMilliseconds: Int64) -> AnsweredWrite? {
        self.wallMilliseconds > wallMilliseconds - WriteKey.rememberedMilliseconds ? self : nil
    }
}
