/// A piece of a state delta. A sender streams these from one read transaction to a node that lacks more than changes can say.
/// That node stages them until it has all of them (PROTOCOL.md, "State delta").
///
/// Each kind has one canonical form. The order of kinds is that of the cases; `StateStream` holds a sender to it.
package enum StateItem: Hashable, Sendable {
    /// An admission of a device. Facts come first, since everything behind them is judged by them.
    case fact(StateFact)
    /// The cuts of devices, and how far their histories count. A receiver that takes the state has to agree.
    case cuts(StateCuts)
    case schema(StateSchema)
    case stream(StateStreamSetting)
    /// The dropped events of a stream, whatever the receiver holds: it may hold some of them, and none of them is sent.
    case dropped(Operation.EventDrop)
    /// The announcement of the next object: the sender skips the object if the receiver has it.
    case announcement(StateAnnouncement)
    /// The object that was announced just before.
    case object(StateObject)
    case events(EventResidue)
    case births(StateBirths)
    case tip(StateTip)
    case end(StateEnd)
    /// Anywhere before the end.
    case check(StateCheck)
}

/// An add-fact with where it stands in its author's history.
package struct StateFact: Hashable, Sendable {
    package let dot: Dot
    /// The author's clock; for display only.
    package let wallMilliseconds: Int64
    package let fact: MemberFact

    package init(dot: Dot, wallMilliseconds: Int64, fact: MemberFact) {
        self.dot = dot
        self.wallMilliseconds = wallMilliseconds
        self.fact = fact
    }
}

/// All cuts that the sender knows, whatever the receiver holds. The changes that speak against a cut cannot be found in
/// changes that came as state.
package struct StateCuts: Hashable, Sendable {
    /// `CutTable.encoded`, with at least one cut or statement on roles.
    package let encoded: [UInt8]

    /// Nil where there are none. Receivers take no statement that the sender's vector does not cover, but the recovery key's.
    package init?(_ table: CutTable, within vector: VersionVector) {
        let table = table.keepingStatements {
            $0.statement.isRecovery || vector.covers($0.dot) && $0.statement.isWithin(vector, at: $0.dot)
        }
        if table.isEmpty { return nil }
        encoded = table.encoded
    }

    /// - Parameter members: decide between cuts of each other's authors.
    package func table(_ members: MemberFacts) throws(CodecError) -> CutTable {
        try CutTable(encoded: encoded, members: members)
    }

    /// Returns what the table says of roles, unchecked.
    package func trust() throws(CodecError) -> TrustTable { try CutTable.trust(encoded: encoded) }
}

/// The part of a collection's schema that a receiver lacks.
package struct StateSchema: Hashable, Sendable {
    package let collection: ExactString
    package let entries: CollectionSchema.Entries.Delta

    package init(collection: ExactString, entries: CollectionSchema.Entries.Delta) {
        self.collection = collection
        self.entries = entries
    }
}

/// The setting of how a stream is kept, and the key of its operation; the greatest counts.
package struct StateStreamSetting: Hashable, Sendable {
    package let setting: Operation.StreamSetting
    package let key: CanonicalKey

    package init(setting: Operation.StreamSetting, key: CanonicalKey) {
        self.setting = setting
        self.key = key
    }
}

/// The name of an object, and a digest of the operations that touched it. A receiver that has staged it with the same digest
/// needs no more of it.
package struct StateAnnouncement: Hashable, Sendable {
    package static let digestByteCount = 16

    package let key: ObjectKey
    /// The first 16 bytes of SHA-256 over the key and what has touched it.
    package let digest: [UInt8]

    package init(key: ObjectKey, touched: VersionVector) {
        self.key = key
        digest = Self.digest(of: key, touched: touched)
    }

    init(key: ObjectKey, digest: [UInt8]) {
        self.key = key
        self.digest = digest
    }
}

/// The part of an object that a receiver lacks, and what is shown beside it.
package struct StateObject: Hashable, Sendable {
    /// The operation that the sender applied to it last; nil where it knows of none.
    package let version: Dot?
    /// The author's clock at its newest change; for display only.
    package let wallMilliseconds: Int64
    package let delta: ObjectDelta

    package init(version: Dot?, wallMilliseconds: Int64, delta: ObjectDelta) {
        self.version = version
        self.wallMilliseconds = wallMilliseconds
        self.delta = delta
    }
}

/// The births of lives that the sender keeps, of one replica. A receiver with another one that the sender's vector covers
/// knows that it ended.
package struct StateBirths: Hashable, Sendable {
    package let replica: ReplicaID
    /// Ascending; neither touch nor overlap. Not empty, at most `Limits.stateBirthRuns`.
    package let runs: [Range<UInt64>]

    package init(replica: ReplicaID, runs: [Range<UInt64>]) {
        self.replica = replica
        self.runs = runs
    }
}

/// The end of a replica's history, and what its changes named until there: changes that come behind it continue from here.
package struct StateTip: Hashable, Sendable {
    package let replica: ReplicaID
    package let tip: ReplicaTip
    /// The author's, at the tip.
    package let signature: [UInt8]
    /// The context that the replica's first change named (`FirstContexts`).
    package let first: VersionVector
    /// The vector of other replicas that its changes named until there, the first included.
    package let named: VersionVector

    package init(
        replica: ReplicaID, tip: ReplicaTip, signature: [UInt8], first: VersionVector, named: VersionVector
    ) {
        self.replica = replica
        self.tip = tip
        self.signature = signature
        self.first = first
        self.named = named
    }

    /// True if its author has signed it; the caller finds the key.
    package func isSigned(space: SpaceID, signingKey: [UInt8]) -> Bool {
        ChainSignature.isValid(
            signature, space: space, replica: replica, end: tip.next, head: tip.head, signingKey: signingKey)
    }
}

/// Closes the stream: nothing was left out before it.
package struct StateEnd: Hashable, Sendable {
    package static let digestByteCount = 32

    /// The vector that the sender held when it began.
    package let vector: VersionVector
    /// SHA-256 over every item before it as it was sent.
    package let digest: [UInt8]

    package init(vector: VersionVector, digest: [UInt8]) {
        self.vector = vector
        self.digest = digest
    }
}

/// A check that the items so far arrived as they were sent. Of a stream that ends early, the staged items stay up to the last
/// check.
package struct StateCheck: Hashable, Sendable {
    /// SHA-256 over every item before it as it was sent.
    package let digest: [UInt8]

    package init(digest: [UInt8]) { self.digest = digest }
}

extension StateItem {
    /// Wire numbers, in the order in which items come; checks come between them.
    enum Kind: UInt8, Comparable {
        case fact = 1
        case cuts = 2
        case schema = 3
        case stream = 4
        case dropped = 5
        case announcement = 6
        case object = 7
        case events = 8
        case births = 9
        case tip = 10
        case end = 11
        case check = 12

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }

        /// The maximum length of the item's body. An item with users' data may be longer than one for bookkeeping.
        var limitBytes: Int {
            switch self {
            case .object, .schema, .dropped: Limits.stateObjectBytes
            case .fact, .cuts, .stream, .announcement, .events, .births, .tip, .end, .check: Limits.stateItemBytes
            }
        }
    }

    var kind: Kind {
        switch self {
        case .fact: .fact
        case .cuts: .cuts
        case .schema: .schema
        case .stream: .stream
        case .dropped: .dropped
        case .announcement: .announcement
        case .object: .object
        case .events: .events
        case .births: .births
        case .tip: .tip
        case .end: .end
        case .check: .check
        }
    }
}
