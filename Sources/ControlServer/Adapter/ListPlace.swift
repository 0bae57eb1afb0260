import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

// Objects that are not listed by id.
extension Agent {
    /// The places found by one search; the pages of one request use them up before the next one.
    private struct Look: Sendable {
        /// Where all objects are read to find one, and for a list that is read to its end.
        static let limit = 20_000

        var places: ArraySlice<ObjectOrder.Place>
        /// True if the list ends behind them.
        let isWhole: Bool
    }

    /// - Parameter query: without an order; its limit is that of the page.
    func page(
        of query: SyncStore.ObjectQuery, in listOrder: ListOrder, behind cursor: String?, _ memory: PageMemory
    ) throws(ControlError) -> EntryPage<ObjectEntry> {
        guard let collection = query.collection else { throw .unknownCollection }
        var look: Look
        if let left = memory.take(Look.self, at: cursor) {
            look = left
        } else {
            look = try self.look(for: query, in: listOrder, behind: cursor)
        }
        if look.places.isEmpty, cursor == nil { try checkIsKnown(collection) }
        var (reader, entries) = (ObjectReader(store), [ObjectEntry]())
        var last: ObjectOrder.Place?
        // Objects that went since the look are left out.
        while entries.count < query.limit, let place = look.places.popFirst() {
            last = place
            let object = try read { () throws(StoreError) in
                try store.shownObject(ObjectKey(collection: collection, id: place.id), space: .home)
            }
            guard let object, object.summary.standing == .live else { continue }
            entries.append(try read { () throws(StoreError) in try reader.entry(object) })
        }
        guard !look.places.isEmpty || !look.isWhole, let next = last?.cursor else { return EntryPage(entries: entries) }
        if !look.places.isEmpty { memory.leave(look, at: next) }
        return EntryPage(entries: entries, next: next)
    }

    private func look(
        for query: SyncStore.ObjectQuery, in listOrder: ListOrder, behind cursor: String?
    ) throws(ControlError) -> Look {
        var query = query
        query.order = try order(listOrder, of: query.collection ?? "", behind: cursor)
        // Pages of a long list are to be of one view of the store.
        if query.limit >= PageSize.bulk { query.limit = Look.limit }
        let found = try read { [query] () throws(StoreError) in try store.places(query, sortedLimit: Look.limit) }
        return Look(places: found.places[...], isWhole: found.isWhole)
    }

    /// - Parameter cursor: as `ObjectOrder.Place.cursor` wrote it, or `COLLECTION/ID` of an object that is listed.
    func order(
        _ order: ListOrder, of collection: ExactString, behind cursor: String?
    ) throws(ControlError) -> ObjectOrder {
        var found = ObjectOrder(order.steps.map { ObjectOrder.Step($0) }, isReversed: order.reverse)
        guard let cursor else { return found }
        if cursor.hasPrefix("/") {
            found.after = try ObjectOrder.Place(cursor: cursor)
            return found
        }
        let name = try ObjectKey(cursor: cursor)
        guard name.collection == collection else { throw .badCursor }
        let object = try read { () throws(StoreError) in try store.shownObject(name, space: .home) }
        guard let object, object.summary.standing == .live else { throw .goneFromList }
        let schema = try read { () throws(StoreError) in try store.schema(of: collection, space: .home) }
        found.after = found.place(of: object, schema)
        return found
    }
}

extension ObjectOrder.Step {
    init(_ step: ListOrder.Step) {
        let key: ObjectOrder.Key =
            switch step.key {
            case .created: .created
            case .changed: .changed
            case .field(let path): .field(path.exactKeys)
            }
        self.init(key, isDescending: step.isDescending)
    }
}

extension ObjectOrder.Place {
    /// `/KEY/ID`, the key in hexadecimal: at most 512 bytes, as names of collections do not begin with a slash.
    var cursor: String {
        "/\(Hexadecimal.text(key))/\(id)"
    }

    init(cursor: String) throws(ControlError) {
        let parts = cursor.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, parts[1].utf8.count <= 2 * ObjectOrder.keyByteLimit,
            let key = Hexadecimal.bytes(parts[1]), !parts[2].isEmpty
        else { throw .badCursor }
        self.init(key: key, id: ExactString(String(parts[2])))
    }
}
