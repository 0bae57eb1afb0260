public import ControlAPI
import LanyardClient

/// A query for the objects of one type.
///
/// ```swift
/// let open = home.query(Todo.self).where(\.done == false).sorted(by: \.title).limit(50)
/// let now = try await open.all()
/// for try await todos in open.live() { show(todos) }
/// ```
public struct Query<Object: LanyardObject>: Sendable {
    private let lanyard: Lanyard
    private var conditions: [Where<Object>] = []
    private var steps: [Result<ListOrder.Step, ControlError>] = []
    private var limit: Int?
    private var skipping: (@Sendable (ControlError) -> Void)?

    init(_ lanyard: Lanyard) { self.lanyard = lanyard }

    // MARK: Narrowing

    /// The same query, for objects for which `condition` holds, too.
    public func `where`(_ condition: Where<Object>) -> Query {
        var query = self
        query.conditions.append(condition)
        return query
    }

    /// The same query, sorted by a field; where that is equal, by the ones named later, and in the end by id.
    ///
    /// Texts are compared by their Unicode scalars, `Zebra` before `apple`, and by their first 96 bytes; sort again what people
    /// read in an order of their language.
    public func sorted(by path: PartialKeyPath<Object>, descending: Bool = false) -> Query {
        var query = self
        do throws(ControlError) {
            query.steps.append(
                .success(ListOrder.Step(.field(try FieldNames.path(path)), isDescending: descending)))
        } catch { query.steps.append(.failure(error)) }
        return query
    }

    /// The same query, sorted by creation or by the last change.
    public func sorted(by key: ListOrder.Key, descending: Bool = false) -> Query {
        var query = self
        query.steps.append(.success(ListOrder.Step(key, isDescending: descending)))
        return query
    }

    /// The same query, for the first `count` objects of the order.
    public func limit(_ count: Int) -> Query {
        var query = self
        query.limit = count
        return query
    }

    /// The same query, without objects that do not fit the struct: `report` is given the error for each. Otherwise such an
    /// object ends the query with the error.
    public func skippingUnreadable(_ report: @escaping @Sendable (ControlError) -> Void = { _ in }) -> Query {
        var query = self
        query.skipping = report
        return query
    }

    // MARK: Asking

    /// Returns the objects as they are now.
    public func all() async throws(ControlError) -> [Object] {
        try await lanyard.check(Object.self)
        var objects: [Object] = []
        do {
            try await lanyard.client.listObjects(
                Object.collection, where: try condition(), order: try order(), limit: limit, space: lanyard.space
            ) { entries in
                for entry in entries {
                    if let object = try value(of: entry) { objects.append(object) }
                }
            }
        } catch let error as ControlError { throw error } catch { throw .unexpected(error) }
        return objects
    }

    /// Returns the first object of the order; nil for none.
    public func first() async throws(ControlError) -> Object? { try await limit(1).all().first }

    /// Returns the number of objects, without reading them where an index gives it.
    public func count() async throws(ControlError) -> Int {
        try await lanyard.check(Object.self)
        let count = try await lanyard.client.countObjects(
            Object.collection, where: try condition(), space: lanyard.space
        ).count
        return limit.map { min($0, count) } ?? count
    }

    /// The objects now, and again after every change of them, by this device or another.
    ///
    /// Only what changed is sent by the agent and decoded. What changes while the loop's body runs comes together. An agent that
    /// stops is waited for, and the list goes on with what changed meanwhile; ``Lanyard/connection`` says so. Throws what
    /// ``all()`` throws for other reasons. It ends by itself only when the task is cancelled.
    ///
    /// An attachment that is added or taken off is a change of its object; the arrival of its bytes on this machine is none.
    public func live() -> PulledSequence<[Object]> {
        PulledSequence { give in
            var list = LiveObjects<Object>()
            try await lanyard.connection.keepTrying { isAlive in
                try await lanyard.check(Object.self)
                try await lanyard.client.followObjects(
                    Object.collection, where: try condition(), order: try order(), limit: limit, after: list.position,
                    space: lanyard.space
                ) { difference in
                    isAlive()
                    try list.apply(difference, value)
                    try await give(list.objects)
                }
                throw ControlError.agentStopped
            }
        }
    }

    // MARK: Parts

    private func condition() throws(ControlError) -> ObjectCondition? {
        var joined: [ObjectCondition] = []
        for condition in conditions { joined.append(try condition.condition.get()) }
        return ObjectCondition.joining(joined)
    }

    private func order() throws(ControlError) -> ListOrder {
        var order = ListOrder()
        for step in steps { order.steps.append(try step.get()) }
        return order
    }

    /// Returns the value of an object; nil for one that is skipped.
    private func value(of entry: ObjectEntry) throws(ControlError) -> Object? {
        do throws(ControlError) { return try FieldCoding.value(of: entry, in: lanyard.space) } catch {
            guard let skipping else { throw error }
            skipping(error)
            return nil
        }
    }
}

extension Lanyard {
    /// A query for all objects of a type.
    public func query<Object: LanyardObject>(_ type: Object.Type) -> Query<Object> { Query(self) }
}

/// The result of a live query as values: each object is decoded once for each change of it.
private struct LiveObjects<Object: LanyardObject> {
    private var entries: [(id: String, object: Object?)] = []
    private(set) var position: String?

    var objects: [Object] { entries.compactMap(\.object) }

    mutating func apply(_ difference: QueryDifference, _ value: (ObjectEntry) throws -> Object?) rethrows {
        try difference.apply(to: &entries, id: \.id) { (id: $0.id, object: try value($0)) }
        position = difference.position
    }
}

extension ControlError {
    static let agentStopped = ControlError(
        .connectionLost, "The agent ended the answer.", hint: "See why with: lanyard logs.")

    /// The error for one that no call of the client is known to throw.
    static func unexpected(_ error: any Error) -> ControlError {
        error is CancellationError
            ? ControlError(.cancelled, "The task was cancelled.")
            : ControlError(.internalFault, "The request failed: \(type(of: error)).", hint: "See: lanyard logs.")
    }
}
