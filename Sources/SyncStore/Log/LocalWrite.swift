package import SyncModel

/// A write that an application requests: one change, all or nothing.
package enum LocalWrite: Sendable, Hashable {
    /// The operations as given.
    case operations([Operation])
    /// Planned against what is stored when its turn comes, each seeing what those before it did. Of the writes of one
    /// commit that have the same `row`, none is done behind one that is refused.
    case planned([ObjectWrite], row: UInt64? = nil)
    /// Lets a device go at what is held of it when the write's turn comes.
    case retire(DeviceID)
    /// States something on a device's role, at what is held of the device when the write's turn comes.
    case trust(TrustOrder)
    /// A change that this device had written under a history that was cut.
    indirect case again(VoidChange)
    /// Written unless a write under this key is remembered; then that one's outcome is the outcome. A refused write is not
    /// remembered: nothing was written, and the cause may be gone when it is asked for again.
    indirect case once(WriteKey, LocalWrite)
    /// A `planned` one of which these steps were planned before its turn came.
    indirect case prepared(LocalWrite, [PreparedWrite])

    var isAgain: Bool { if case .again = self { true } else { false } }
}

/// Why a write was refused, and at which of its steps, from 0.
package struct WriteRefusal: Error, Hashable, Sendable {
    package let step: Int
    package let reason: ObjectRefusal

    package init(step: Int, _ reason: ObjectRefusal) {
        self.step = step
        self.reason = reason
    }
}

/// The results of the writes of one commit, in their order.
package struct AppendResult: Sendable, Equatable {
    /// Without segments when nothing was written.
    package let commit: Commit
    package let outcomes: [Result<WriteOutcome, WriteRefusal>]

    func serving(_ sealed: [VerifiedSegment], andOwn isSealed: Bool) -> AppendResult {
        AppendResult(commit: commit.serving(sealed, andOwn: isSealed), outcomes: outcomes)
    }

    package init(commit: Commit, outcomes: [Result<WriteOutcome, WriteRefusal>]) {
        self.commit = commit
        self.outcomes = outcomes
    }
}

/// The result of a durable write.
package struct WriteOutcome: Sendable, Equatable {
    /// The dots of its first and last operation; nil if nothing had to be written.
    package let dots: ClosedRange<Dot>?
    /// Per planned write: the object's version behind it, and whether it changed anything.
    package let steps: [Step]

    package struct Step: Sendable, Equatable {
        package let version: Dot?
        package let changed: Bool
        /// The object as this write left it; nil if the write is not about an object.
        package let object: StoredObject?
        /// The object's name where a remembered outcome does not hold it: it can be read at `version`.
        package let unread: ObjectKey?

        package init(version: Dot?, changed: Bool, object: StoredObject?, unread: ObjectKey? = nil) {
            self.version = version
            self.changed = changed
            self.object = object
            self.unread = unread
        }
    }

    package init(dots: ClosedRange<Dot>?, steps: [Step] = []) {
        self.dots = dots
        self.steps = steps
    }
}

extension LocalWrite {
    /// True for a statement of the recovery key, which speaks on any device.
    var isOfRecoveryKey: Bool {
        switch self {
        case .trust(let order): order.recoveryKey != nil
        case .once(_, let write), .prepared(let write, _): write.isOfRecoveryKey
        case .operations, .planned, .retire, .again: false
        }
    }

    /// True for work, new or again: a reader's agent refuses it, since it would count nowhere. Statements that the agent makes by
    /// itself are left to the law.
    package var needsWriter: Bool {
        switch self {
        case .planned, .retire, .again: true
        case .trust(let order): order.recoveryKey == nil
        case .once(_, let write), .prepared(let write, _): write.needsWriter
        case .operations: false
        }
    }

    /// Lets these in, with as many changes as that takes.
    static func admissions(of facts: [MemberFact]) -> [LocalWrite] {
        let limit = Int(Limits.admissionsPerChange)
        return stride(from: 0, to: facts.count, by: limit).map { first in
            .operations(facts[first..<min(facts.count, first + limit)].map { .addMember($0) })
        }
    }
}
