import SyncModel

/// The outcome of bringing a `LiveResult` up to date.
package enum LiveStep: Sendable {
    /// The result shows the same as before.
    case unchanged
    /// The objects that are placed are in the order of `LiveDifference.placed`.
    case changed(LiveDifference, [StoredObject])
    /// The result must be searched anew: the schema is another, rows were removed, or too much has changed.
    case outdated
}

// Results of queries that are kept up to date. Objects that arrive with a state are part of them once the state is here as a
// whole: before that they have no position among the changes.
extension SQLiteStore {
    /// The number of changed objects up to which a step is a difference.
    private static let maximumDifference = 2_000

    /// Searches the result of a query of one collection. Looks at every object of the collection unless an index helps.
    ///
    /// - Parameter position: up to which a reader knows the result, if it was searched with the same schema.
    /// - Returns: with the result what has changed of it since that position; `outdated` if that cannot be told. Of a
    ///   difference since a position every object that changed is named: it is `changed` if it is part of the result now.
    package func liveResult(
        of query: ObjectQuery, since position: Int64? = nil
    ) throws(StoreError) -> (result: LiveResult, step: LiveStep) {
        guard let collection = query.collection else { preconditionFailure("a live result is of one collection") }
        let found = try readShown(query.space) { _, objects throws(StoreError) in
            var search = query
            let order = query.order ?? ObjectOrder([])
            search.order = order
            search.limit = LiveResult.capacity(query)
            let result = LiveResult(
                query, order, schema: try objects.schema(of: collection), position: try objects.position(),
                places: try objects.page(search).places)
            guard let position, query.limit == .max, position <= result.position,
                try objects.removalPosition(of: collection) <= position
            else { return (result, LiveStep.outdated) }
            return (result, try Self.difference(of: result, since: position, objects))
        }
        guard let found else { throw .corrupt(detail: "the space has no row") }
        return found
    }

    private static func difference(
        of result: LiveResult, since position: Int64, _ rows: ObjectRows
    ) throws(StoreError) -> LiveStep {
        var (difference, objects): (LiveDifference, [ExactString: StoredObject]) = (LiveDifference(), [:])
        try rows.forEachChange(after: position, where: { $0 == result.query.collection }) { object in
            let id = object.key.id
            objects[id] = object
            if let index = result.index(of: id) {
                difference.placed.append(.init(kind: .changed, index: index, id: id))
            } else {
                difference.removed.append(id)
            }
            return objects.count <= maximumDifference
        }
        guard objects.count <= maximumDifference else { return .outdated }
        if difference.isEmpty { return .unchanged }
        difference.placed.sort { $0.index < $1.index }
        return .changed(difference, difference.placed.compactMap { objects[$0.id] })
    }

    /// Brings results up to date, all in one view of the store: each changed object is read once for all of them.
    ///
    /// - Returns: a step for each result, in their order.
    package func advance(_ results: inout [LiveResult]) throws(StoreError) -> [LiveStep] {
        guard let space = results.first?.query.space else { return [] }
        return try readShown(space) { _, objects throws(StoreError) in
            try Self.advance(&results, objects)
        } ?? results.map { _ in .outdated }
    }

    private static func advance(
        _ results: inout [LiveResult], _ rows: ObjectRows
    ) throws(StoreError) -> [LiveStep] {
        var readers: [ExactString: (schema: CollectionSchema?, removed: Int64, indices: [Int])] = [:]
        for index in results.indices {
            guard let collection = results[index].query.collection else { continue }
            if readers[collection] == nil {
                readers[collection] = (
                    try rows.schema(of: collection), try rows.removalPosition(of: collection), []
                )
            }
            guard let reader = readers[collection], results[index].schema == reader.schema,
                results[index].position >= reader.removed
            else { continue }
            readers[collection]?.indices.append(index)
        }
        let position = try rows.position()
        var touched: [ObjectKey: StoredObject] = [:]
        try rows.forEachChange(after: results.map(\.position).min() ?? position, where: { readers[$0] != nil }) {
            object in
            guard let reader = readers[object.key.collection] else { return true }
            let values = FieldValues(object, reader.schema)
            for index in reader.indices where results[index].touchedCount <= maximumDifference {
                results[index].take(values)
                if results[index].hasTouched(object.key.id) { touched[object.key] = object }
            }
            return true
        }
        var steps = results.map { _ in LiveStep.outdated }
        for (collection, reader) in readers {
            for index in reader.indices where results[index].touchedCount <= maximumDifference {
                if let search = results[index].refilling { results[index].refill(try rows.page(search).places) }
                steps[index] = .unchanged
                guard let difference = results[index].endStep(at: position) else { continue }
                var objects: [StoredObject] = []
                for placed in difference.placed {
                    let key = ObjectKey(collection: collection, id: placed.id)
                    let object = if let known = touched[key] { Optional(known) } else { try rows.object(key) }
                    if let object { objects.append(object) }
                }
                let isComplete = objects.count == difference.placed.count
                steps[index] = isComplete ? .changed(difference, objects) : .outdated
            }
        }
        return steps
    }
}
