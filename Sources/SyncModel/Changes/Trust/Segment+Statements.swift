extension Segment {
    /// True if each statement on roles that the author makes in its own name carries its signature.
    ///
    /// The chain vouches for a statement where the chain goes. A state and a `Goodbye` carry statements alone, so one with
    /// another signature must be in no node's log: nodes would differ in whether they believe it.
    func statementsAreSigned(by signingKey: [UInt8], in space: SpaceID) -> Bool {
        var areSigned = true
        var reader = ByteReader(bytes)
        while areSigned, !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: bytes) { counter, operation in
                guard areSigned, operation.kind == Operation.Kind.trust,
                    case .trust(let statement) = Operation(operation, in: bytes), !statement.isRecovery
                else { return }
                let dot = Dot(replica: replica, counter: counter)
                areSigned = statement.isSigned(by: signingKey, at: dot, in: space)
            }
        }
        return areSigned
    }
}

extension TrustTable {
    /// True if each statement that `known` does not have, and that a device makes in its own name, carries that device's
    /// signature. What the recovery key signed is checked where it is judged.
    ///
    /// Which histories began behind a statement is not signed: the sender is believed in that.
    ///
    /// - Parameter signingKey: of a device; nil if it is no member.
    package func isSigned(
        besides known: TrustTable, in space: SpaceID, by signingKey: (DeviceID) -> [UInt8]?
    ) -> Bool {
        rows.allSatisfy { row in
            if row.statement.isRecovery || known.row(at: row.dot) != nil { return true }
            guard let key = signingKey(row.dot.replica.device) else { return false }
            return row.statement.isSigned(by: key, at: row.dot, in: space)
        }
    }

    /// True if each statement that `known` does not have, and that a device makes in its own name, lies within the vector of
    /// the node that told of it, with all that its author claims to have known.
    package func isWithin(_ vector: VersionVector, besides known: TrustTable) -> Bool {
        rows.allSatisfy { row in
            if row.statement.isRecovery || known.row(at: row.dot) != nil { return true }
            return vector.covers(row.dot) && row.statement.isWithin(vector, at: row.dot)
        }
    }
}
