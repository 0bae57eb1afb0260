package import SyncModel

/// A fact that decides which devices are trusted: an admission, a retirement, a statement on a role, or a block of this node.
package struct TrustFact: Sendable, Hashable {
    package enum Kind: Int64, Sendable, CaseIterable {
        case admission = 1
        case retirement = 2
        case revocation = 3
        /// The decisions of one node have no dot.
        case block = 4
        case unblock = 5
        case role = 6
        case readmission = 7
        /// The creation of the recovery key; about its author.
        case recoveryKey = 8

        /// Greater ones are of a later version.
        static let greatest = recoveryKey
    }

    /// The content of a statement on a role.
    package struct Statement: Sendable, Hashable {
        /// The role that it gives, if it gives one.
        package let role: MemberFact.Role?
        /// True if the recovery key signed it.
        package let isRecovery: Bool
        /// True if the device is told to delete what it holds.
        package let wipes: Bool
    }

    /// The content of an admission.
    package struct Admission: Sendable, Hashable {
        package let role: MemberFact.Role
        /// The device's name, as its author knew it.
        package let name: String
        /// True if the author joined the space through the device.
        package let isHost: Bool
        /// See `MemberFact.isReturn`.
        package let isReturn: Bool
        /// See `MemberFact.isBound`.
        package let isBound: Bool

        init(_ fact: MemberFact, isBound: Bool) {
            role = fact.role
            name = fact.name
            isHost = fact.isHost
            isReturn = fact.isReturn
            self.isBound = isBound
        }
    }

    package let kind: Kind
    package let author: DeviceID
    /// The device that the fact is about.
    package let device: DeviceID
    /// The dot of the operation.
    package let dot: Dot?
    /// The author's wall clock, for display only; nil if unknown.
    package let wallMilliseconds: Int64?
    package let admission: Admission?
    /// The content of a role, a re-admission, a revocation or a recovery key. Nil for a revocation of versions that gave it no effect.
    package let statement: Statement?

    init(
        _ kind: Kind, of device: DeviceID, by author: DeviceID, at dot: Dot?, wallMilliseconds: Int64?,
        admission: Admission? = nil, statement: Statement? = nil
    ) {
        self.kind = kind
        self.author = author
        self.device = device
        self.dot = dot
        self.wallMilliseconds = wallMilliseconds
        self.admission = admission
        self.statement = statement
    }

    init(_ addition: Membership.Addition, at dot: Dot, isBound: Bool) {
        self.init(
            .admission, of: addition.fact.device, by: addition.author, at: dot,
            wallMilliseconds: addition.wallMilliseconds, admission: Admission(addition.fact, isBound: isBound))
    }

    init(_ statement: TrustStatement, at dot: Dot, wallMilliseconds: Int64?) {
        let kind: Kind
        var wipes = false
        switch statement.content {
        case .role: kind = .role
        case .readmission: kind = .readmission
        case .revocation(_, _, let orders): (kind, wipes) = (.revocation, orders)
        case .recoveryKey: kind = .recoveryKey
        }
        self.init(
            kind, of: statement.device ?? dot.replica.device, by: dot.replica.device, at: dot,
            wallMilliseconds: wallMilliseconds,
            statement: Statement(role: statement.role, isRecovery: statement.isRecovery, wipes: wipes))
    }

    init(_ cut: CutFact, at dot: Dot, wallMilliseconds: Int64?) {
        self.init(
            cut.isStrict ? .revocation : .retirement, of: cut.device, by: dot.replica.device, at: dot,
            wallMilliseconds: wallMilliseconds)
    }
}

/// A row of the log of trust: a fact, and the time at which this node learned of it.
package struct TrustRecord: Sendable, Hashable {
    /// Grows in the order in which the node learned of the facts.
    package let position: Int64
    package let fact: TrustFact
    /// This node's wall clock at the commit; nil if an older program stored the fact.
    package let knownMilliseconds: Int64?
    /// True if the fact was taken back together with the history it stood in.
    package let isGone: Bool
    /// True if this node has decided nothing else about the device since. Always true of facts of the log.
    package let isNewest: Bool
}

// The column `detail`.
extension TrustFact {
    var detail: [UInt8] { admission?.encoded ?? statement?.encoded ?? [] }
}

extension TrustFact.Statement {
    /// Layout: varint role (0: none), 1 byte (1: signed by the recovery key, 2: wipe).
    fileprivate var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: role?.rawValue ?? 0)
        bytes.append((isRecovery ? 1 : 0) | (wipes ? 2 : 0))
        return bytes
    }

    init(encoded bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        role = MemberFact.Role(rawValue: try reader.varint())
        let flags = try reader.byte()
        isRecovery = flags & 1 != 0
        wipes = flags & 2 != 0
    }
}

extension TrustFact.Admission {
    /// Layout: varint role, name, 1 byte (1: host, 2: bound, 4: return).
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: role.rawValue)
        bytes.append(lengthPrefixed: name.utf8)
        bytes.append((isHost ? 1 : 0) | (isBound ? 2 : 0) | (isReturn ? 4 : 0))
        return bytes
    }

    init(encoded bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        guard let role = MemberFact.Role(rawValue: try reader.varint()) else { throw .outOfRange(field: "trust.role") }
        let name = try reader.lengthPrefixed(upTo: Limits.deviceNameBytes, "trust.name")
        let flags = try reader.byte()
        self.role = role
        self.name = String(decoding: bytes[name], as: UTF8.self)
        isHost = flags & 1 != 0
        isBound = flags & 2 != 0
        isReturn = flags & 4 != 0
    }
}
