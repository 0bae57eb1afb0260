package import ControlAPI

/// A page of a long list: at most `limit` entries, and fewer when they hold more than `ControlLimits.pagePayloadBytes` (one may
/// be larger).
package struct EntryPage<Entry: Sendable>: Sendable {
    package var entries: [Entry]
    /// The place where the next page begins, to be given as `after`; nil at the end. At most 512 bytes of UTF-8.
    package var next: String?

    package init(entries: [Entry], next: String? = nil) {
        self.entries = entries
        self.next = next
    }
}

/// A query for a page of objects.
package struct ObjectListQuery: Sendable, Equatable {
    package var space: String
    package var collection: String
    /// Nil: every object.
    package var condition: ObjectCondition?
    package var order: ListOrder
    /// The `next` of the page before, or `COLLECTION/ID` of an object that is listed.
    package var after: String?
    package var limit: Int

    package init(
        space: String, collection: String, condition: ObjectCondition? = nil, order: ListOrder = ListOrder(),
        after: String? = nil, limit: Int
    ) {
        self.space = space
        self.collection = collection
        self.condition = condition
        self.order = order
        self.after = after
        self.limit = limit
    }
}

/// A query for a page of deletions.
package struct DeletedQuery: Sendable, Equatable {
    package var space: String
    /// Nil: of all.
    package var collection: String?
    package var after: String?
    package var limit: Int

    package init(space: String, collection: String?, after: String? = nil, limit: Int) {
        self.space = space
        self.collection = collection
        self.after = after
        self.limit = limit
    }
}

/// A query for a page of an object's history.
package struct HistoryQuery: Sendable, Equatable {
    package var space: String
    package var name: ObjectName
    /// The path whose history is read, with everything below it; nil: all fields.
    package var field: FieldPath?
    package var after: String?
    package var limit: Int

    package init(space: String, name: ObjectName, field: FieldPath? = nil, after: String? = nil, limit: Int) {
        self.space = space
        self.name = name
        self.field = field
        self.after = after
        self.limit = limit
    }
}

/// A query for the authors of a field's value.
package struct BlameQuery: Sendable, Equatable {
    package var space: String
    package var name: ObjectName
    package var field: FieldPath
    /// Nil: now.
    package var at: DotText?

    package init(space: String, name: ObjectName, field: FieldPath, at: DotText? = nil) {
        self.space = space
        self.name = name
        self.field = field
        self.at = at
    }
}

/// A query for the difference between two versions of an object.
package struct DifferenceQuery: Sendable, Equatable {
    package var space: String
    package var name: ObjectName
    package var from: DotText
    /// Nil: now.
    package var at: DotText?
    /// The path that is compared; nil: all fields.
    package var field: FieldPath?

    package init(space: String, name: ObjectName, from: DotText, at: DotText? = nil, field: FieldPath? = nil) {
        self.space = space
        self.name = name
        self.from = from
        self.at = at
        self.field = field
    }
}

/// A query for changes of objects to wait for.
package struct WatchQuery: Sendable, Equatable {
    package var space: String
    /// Nil: of all.
    package var collection: String?
    package var after: UInt64
    package var limit: Int

    package init(space: String, collection: String?, after: UInt64, limit: Int) {
        self.space = space
        self.collection = collection
        self.after = after
        self.limit = limit
    }
}
