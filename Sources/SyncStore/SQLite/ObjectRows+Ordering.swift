import SyncModel

// Objects in the order of an index.
extension ObjectRows {
    /// Offers objects to a page in the order of an index, until it has enough.
    func walked(
        _ plan: QueryPlan.IndexOrder, _ collection: Int64, _ name: ExactString, _ schema: CollectionSchema?,
        into page: inout ObjectPage
    ) throws(StoreError) {
        let order = plan.order
        var walk = plan.walk
        let (field, isAscending) = (walk.field, walk.isAscending)
        while !page.hasEnoughPlaces,
            let group = try walk.next({ range throws(StoreError) in
                try nearest(in: range, of: field, isAscending: isAscending, collection)
            })
        {
            // The whole key of a place if there is no other step.
            let placeKey = order.steps[0].isDescending ? group.key.map { ~$0 } : group.key
            let isStart = plan.isById && order.after?.key == placeKey
            try forEachKey(
                of: group, field, collection, after: isStart ? order.after?.id : nil, isReversed: order.isReversed
            ) { id throws(StoreError) in
                if plan.isEnough {
                    page.take(ObjectOrder.Place(key: placeKey, id: ExactString(id)))
                } else {
                    _ = try read(id, collection, name) { page.take($0, schema) }
                }
                // By further sort keys an object of this group may come before all others of it.
                return !(plan.isById && page.hasEnoughPlaces)
            }
        }
    }

    /// Returns the value that comes first in a range, in the direction of a walk.
    private func nearest(
        in range: IndexRange, of field: ExactString, isAscending: Bool, _ collection: Int64
    ) throws(StoreError) -> [UInt8]? {
        try access.first(
            """
            SELECT value FROM field_value WHERE collection = ? AND field = ? AND value >= ? AND value < ?
            ORDER BY value \(isAscending ? "ASC" : "DESC") LIMIT 1
            """, .integer(collection), .text(field.string), .blob(range.lower), .blob(range.upper)
        ) { row throws(StoreError) in row.blob(0) }
    }

    /// Hands over the ids of a group, in their order, until `body` returns false.
    private func forEachKey(
        of group: IndexWalk.Group, _ field: ExactString, _ collection: Int64, after: ExactString?, isReversed: Bool,
        _ body: (String) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let bound = isReversed ? "key < ?" : "key > ?"
        let order = "ORDER BY key \(isReversed ? "DESC" : "ASC")"
        // Most groups are one value, whose ids the index has in order; the statement is kept.
        if group.ranges.count == 1, let value = group.ranges[0].point {
            let start = "SELECT key FROM field_value WHERE collection = ? AND field = ? AND value = ?"
            if let after {
                try access.forEach(
                    "\(start) AND \(bound) \(order)", .integer(collection), .text(field.string), .blob(value),
                    .text(after.string)
                ) { row throws(StoreError) in try body(row.text(0)) }
            } else {
                try access.forEach(
                    "\(start) \(order)", .integer(collection), .text(field.string), .blob(value)
                ) { row throws(StoreError) in try body(row.text(0)) }
            }
            return
        }
        let keys = Self.keys(field, group.ranges, collection, after == nil ? nil : bound, after?.string ?? "")
        guard let (sql, values) = keys else { return }
        try access.forEach("\(sql) \(order)", values: values) { row throws(StoreError) in try body(row.text(0)) }
    }
}
