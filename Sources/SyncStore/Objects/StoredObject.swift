package import SyncModel

/// The standing of an object for readers.
package enum ObjectStanding: Int64, Sendable, Hashable {
    /// The object is not visible: its operations were void, or another device may not have edited its life yet.
    case nothing = 0
    case live = 1
    case deleted = 2
    /// A deletion and an edit crossed under the policy `ask`, and the conflict is undecided.
    case undecided = 3
}

/// An object as it is stored: one id of one collection.
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
    /// The number of edits dropped by deletions that were dismissed on this node.
    package var dismissedCount: UInt64
    /// The edits dropped by deletions that are collected now; empty once they were dismissed on this node.
    package var collectedEdits: [DeletionRecord.Edited]
    /// The summary as last written.
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

    /// Updates version and time after another node's state was joined: they are taken from the node that knows more.
    mutating func recordJoined(_ object: StateObject, onto touched: VersionVector) {
        let theirs = object.delta.lives.touched
        guard !touched.covers(theirs) else { return }
        version = object.version ?? version
        let wall = object.wallMilliseconds
        changedMilliseconds = theirs.covers(touched) ? wall : max(wall, changedMilliseconds)
    }

    /// The births of the lives that are kept, ascending.
    var births: [Dot] { state.lives.lives.map(\.birth) }

    /// True if a reader finds both objects the same. If nothing is left of a deletion, the object was only deleted.
    func isShown(like other: StoredObject) -> Bool {
        if state.isEmpty { return other.summary.standing == .deleted && other.summary.digest == nil }
        return summary.standing == other.summary.standing && summary.digest == other.summary.digest
            && state.shownAttachments == other.state.shownAttachments
    }
}

/// The summary kept beside an object so that it can be listed, found and summed without reading it.
package struct ObjectSummary: Sendable, Hashable {
    package var standing: ObjectStanding
    package var hasConflict: Bool
    /// The object's term in the state digest, without its attachments; nil if a reader cannot see it.
    package var digest: Sum256?
    /// The entries of a live object in the indexes: one for each field that the schema calls indexed.
    package var indexed: [IndexedValue]
    /// The attachments it shows, ascending by id.
    package var attachments: [Attachment]

    package static let nothing = ObjectSummary(standing: .nothing, hasConflict: false, digest: nil)

    package init(
        standing: ObjectStanding, hasConflict: Bool, digest: Sum256?, indexed: [IndexedValue] = [],
        attachments: [Attachment] = []
    ) {
        self.standing = standing
        self.hasConflict = hasConflict
        self.digest = digest
        self.indexed = indexed
        self.attachments = attachments
    }

    /// Clears the values that lie in tables of their own, as after a read: they are computed when needed.
    mutating func forgetTables() {
        indexed = []
        attachments = []
    }
}

/// The value that a live object shows in an indexed field.
package struct IndexedValue: Sendable, Hashable {
    package let field: ExactString
    /// Nil if the object shows nothing there.
    package let value: JSONValue?

    /// The bytes that the index holds: canonical ones, or none, which come before all others.
    var bytes: [UInt8] { value?.canonicalBytes ?? [] }
}

/// A collection that has objects, or had, or has a schema.
package struct StoredCollection: Sendable, Equatable {
    package let name: ExactString
    /// The schema; nil if none was set.
    package let schema: CollectionSchema?

    package init(name: ExactString, schema: CollectionSchema?) {
        self.name = name
        self.schema = schema
    }
}
