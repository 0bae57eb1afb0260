extension Roles {
    /// A statement that its author signed over (space, dot, context, content).
    package struct Fact: Hashable, Sendable {
        package enum Kind: Int, CaseIterable, Sendable {
            /// Admits `target` with at least `role`.
            case add
            /// Gives `target` the role `role`, be it lower or higher.
            case setRole
            /// Gives a device that was revoked or lowered the role `role`; undoes what it knows.
            case readmit
            /// Ends the histories of `target`.
            case revoke
            /// States what its author holds. It travels with what was forgotten by it.
            case acknowledge
            /// An ordinary operation, on an object say. It changes no role.
            case write
            /// Ends this founding in favour of another one.
            case yield
        }

        /// Its place in the history. A fact knows only facts with lesser ids.
        package let id: Int
        package let replica: Replica
        /// The dot is (replica, counter).
        package let counter: Int
        /// All facts that the author held: the context. Causally closed.
        package let past: FactSet
        package let kind: Kind
        /// The device that the fact is about; nil for acknowledgements and writes.
        package let target: Device?
        /// `none` where the kind has no role.
        package let role: Role
        /// The ends that the fact names, or what the acknowledgement covers.
        package let counters: Counters
        /// True if the recovery key signed it, too. Such a fact outranks every device.
        package let isRecovery: Bool

        package init(
            id: Int, replica: Replica, counter: Int, past: FactSet, kind: Kind, target: Device?, role: Role,
            counters: Counters, isRecovery: Bool
        ) {
            self.id = id
            self.replica = replica
            self.counter = counter
            self.past = past
            self.kind = kind
            self.target = target
            self.role = role
            self.counters = counters
            self.isRecovery = isRecovery
        }

        package var author: Device { replica.device }

        /// The role that its author must have.
        package var needed: Role {
            switch kind {
            case .add: max(.writer, role)
            case .setRole, .readmit, .revoke, .yield: .admin
            case .write: .writer
            case .acknowledge: .reader
            }
        }
    }
}

extension Roles.Fact: CustomStringConvertible {
    package var description: String {
        let key = isRecovery ? "RECOVERY " : ""
        let about = target.map(\.description) ?? ""
        let what =
            switch kind {
            case .add: "add(\(about), \(role))"
            case .setRole: "role(\(about), \(role)) ends \(counters)"
            case .readmit: "readmit(\(about), \(role)) ends \(counters)"
            case .revoke: "revoke(\(about)) ends \(counters)"
            case .acknowledge: "acknowledges \(counters)"
            case .write: "write"
            case .yield: "yield"
            }
        return "#\(id) \(replica):\(counter) \(key)\(what)"
    }
}
