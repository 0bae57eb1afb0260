package import SyncModel

/// The way to the objects of a query: a look at every object of the collection, at those in ranges of an indexed field, or at
/// the first ones in the order of an indexed field.
enum QueryPlan {
    case scan
    case lookUp(Lookup)
    case walk(IndexOrder)

    /// A field that the index can look up, for a condition that the query must meet.
    struct Lookup {
        let field: ExactString
        let ranges: [IndexRange]
        /// True if the whole condition holds for everything in the ranges.
        let isExact: Bool
    }

    /// An indexed field in whose order the query wants its objects.
    struct IndexOrder {
        let order: ObjectOrder
        let walk: IndexWalk
        /// True if the id alone decides between objects that are equal in the field.
        let isById: Bool
        /// True if the index says which objects the query wants, and their places.
        let isEnough: Bool
    }

    /// More are not asked for in one statement (SQLite allows 500 terms); the objects are looked through instead.
    private static let maximumRanges = 400

    /// Returns the walk in the order of the query; nil if its first sort key is no indexed field.
    ///
    /// - Parameter lookups: those of the query. One of the same field bounds the walk.
    static func order(_ query: ObjectQuery, _ lookups: [Lookup], _ schema: CollectionSchema?) -> IndexOrder? {
        guard let order = query.order, case .field(let path)? = order.steps.first?.key, path.count == 1,
            let index = schema?.indexes.first(where: { $0.field == path[0] })
        else { return nil }
        let own = lookups.first { $0.field == index.field }
        let ranges = own?.ranges.sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
        let isById = order.steps.count == 1
        return IndexOrder(
            order: order, walk: IndexWalk(order, by: index.field, within: ranges), isById: isById,
            isEnough: isById && (query.condition == nil || own?.isExact == true))
    }

    /// The lookups that the condition allows, one per field, in the order in which it names them.
    static func lookups(_ condition: ObjectQuery.Condition?, _ schema: CollectionSchema?) -> [Lookup] {
        guard let condition, let indexes = schema?.indexes, !indexes.isEmpty else { return [] }
        let conjuncts = condition.conjuncts
        var lookups: [Lookup] = []
        for conjunct in conjuncts {
            guard let (field, ranges, isExact) = lookup(conjunct), ranges.count <= maximumRanges,
                indexes.contains(where: { $0.field == field })
            else { continue }
            if let index = lookups.firstIndex(where: { $0.field == field }) {
                let common = lookups[index].ranges.flatMap { one in ranges.compactMap(one.intersection) }
                lookups[index] = Lookup(field: field, ranges: common, isExact: false)
            } else {
                lookups.append(Lookup(field: field, ranges: ranges, isExact: isExact && conjuncts.count == 1))
            }
        }
        return lookups
    }

    private static func lookup(
        _ condition: ObjectQuery.Condition
    ) -> (field: ExactString, ranges: [IndexRange], isExact: Bool)? {
        // An index holds values as a whole.
        switch condition {
        case .compare(let path, let comparison, let operand):
            guard path.count == 1, let ranges = IndexRange.ranges(comparison, operand) else { return nil }
            return (path[0], ranges, comparison == .equal || comparison == .prefix)
        case .isIn(let path, let operands):
            var ranges: [IndexRange] = []
            guard path.count == 1 else { return nil }
            for operand in operands {
                guard let points = IndexRange.points(operand) else { return nil }
                for point in points where !ranges.contains(point) { ranges.append(point) }
            }
            return (path[0], ranges, true)
        case .all, .any, .not: return nil
        }
    }
}

/// The cost of a query: for a person who asks why a list is slow.
package struct QueryCost: Sendable, Hashable {
    /// The indexed field that was looked up; nil if none was.
    package var index: ExactString?
    /// The indexed field in whose order the objects were found; nil if they were sorted, or come by id. Without it and
    /// `index` every object of the collection was looked at.
    package var order: ExactString?
    /// The number of objects read and compared. 0 where the index alone gave the answer.
    package var examined: Int
    /// The number of objects for which the condition holds; for a query with an order, up to its limit.
    package var matched: Int

    package init(index: ExactString? = nil, order: ExactString? = nil, examined: Int = 0, matched: Int = 0) {
        self.index = index
        self.order = order
        self.examined = examined
        self.matched = matched
    }
}
