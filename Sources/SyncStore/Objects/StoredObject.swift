package import SyncModel

/// What a reader of an object can find.
package enum ObjectStanding: Int64, Sendable, Hashable {
    /// Nothing to see: operations that were void, or a life that another device may not have edited yet.
    case nothing = 0
    case live = 1
    case deleted = 2
    /// A deletion and an edit crossed under the policy `ask`, and nobody has decided.
    case undecided = 3
}

/// One id of one collection as it is stored.
package struct StoredObject: Sendable, Equatable {
    package let key: ObjectKey
    package var state: ObjectState
    /// Grows with every change to any object of this store.
    package var position: Int64
    /// The author's clock at the newest change, for display only.
    package var changedMilliseconds: Int64
    /// The operation applied last, here.
    package var version: Dot?
    /// Fields that never leave this node, sorted by name.
    package var localFields: [JSONValue.Member]
    /// How many of the edits that deletions dropped somebody has dismissed, on this node.
    package var dismissedCount: UInt64
    /// Edits that deletions dropped which are collected now; none once somebody has dismissed them, on this node.
    package var collectedEdits: [DeletionRecord.Edited]
    /// As it was written last.
    package var summary: ObjectSummary

    package init(key: ObjectKey) {
        self.key = key
        state = ObjectState()
        position = 0
        changedMilliseconds = 0
        version = nil
        localFields = []
        dismissedCount = 0
        collectedEdits = []
        summary = .nothing
    }
}

extension StoredObject {
    /// A history that begins with what the object is now.
    var beginning: ObjectBeginning {
        var beginning = ObjectBeginning()
        (beginning.state, beginning.version) = (state, version)
        beginning.changedMilliseconds = changedMilliseconds
        return beginning
    }

    /// After another node's state was joined into its own: what is shown beside it is of whoever knows more.
    mutating func noteJoined(_ object: StateObject, onto touched: VersionVector) {
        let theirs = object.delta.lives.touched
        guard !touched.covers(theirs) else { return }
        version = object.version ?? version
        let wall = object.wallMilliseconds
        changedMilliseconds = theirs.covers(touched) ? wall : max(wall, changedMilliseconds)
    }

    /// Of the lives that are kept, ascending.
    var births: [Dot] { state.lives.lives.map(\.birth) }

    /// Whether a reader finds in both the same: where nothing is left of a deletion, there was nothing but it.
    func isShown(like other: StoredObject) -> Bool {
        if state.isEmpty { return other.summary.standing == .deleted && other.summary.digest == nil }
        return summary.standing == other.summary.standing && summary.digest == other.summary.digest
            && state.shownAttachments == other.state.shownAttachments
    }
}

/// What is kept beside an object so that it can be listed, found and summed without reading it.
package struct ObjectSummary: Sendable, Hashable {
    package var standing: ObjectStanding
    package var hasConflict: Bool
    /// Its term in the state digest, without its attachments; nil when a reader cannot see it.
    package var digest: Sum256?
    /// What it shows in the fields that the schema calls indexed.
    package var indexed: [JSONValue.Member]
    /// The attachments it shows, ascending by id.
    package var attachments: [Attachment]

    package static let nothing = ObjectSummary(standing: .nothing, hasConflict: false, digest: nil)

    package init(
        standing: ObjectStanding, hasConflict: Bool, digest: Sum256?, indexed: [JSONValue.Member] = [],
        attachments: [Attachment] = []
    ) {
        self.standing = standing
        self.hasConflict = hasConflict
        self.digest = digest
        self.indexed = indexed
        self.attachments = attachments
    }

    /// As it is read: what lies in tables of its own is computed where it is asked for.
    mutating func forgetTables() {
        indexed = []
        attachments = []
    }
}

/// A collection that has objects, or had, or has a schema.
package struct StoredCollection: Sendable, Equatable {
    package let name: ExactString
    /// Nil while nobody has set one.
    package let schema: CollectionSchema?

    package init(name: ExactString, schema: CollectionSchema?) {
        self.name = name
        self.schema = schema
    }
}
