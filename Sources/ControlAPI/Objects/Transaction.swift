/// Several writes as one change: all are done, or none.
public struct Transaction: Hashable, Sendable {
    /// A write of a transaction; it sees those before it.
    public enum Step: Hashable, Sendable {
        /// Put an object.
        case put(ObjectPut)
        /// Edit an object.
        case edit(ObjectEdit)
        /// Delete an object; with a version only that one.
        case delete(ObjectName, ifVersion: DotText?)
        /// Append an event to a stream.
        case emit(stream: String, EventDraft)
    }

    /// The space that is written to.
    public var space: String
    /// The writes in order.
    public var steps: [Step]

    /// Both parts. Throws `invalid_name`, and `invalid_argument` for no or too many steps.
    public init(space: String = "home", _ steps: [Step]) throws(ControlError) {
        try NameRule.check(space, is: .space)
        guard ControlLimits.transactionOperations.contains(steps.count) else {
            throw ControlError(
                .invalidArgument,
                "A transaction holds 1 to \(ControlLimits.transactionOperations.upperBound) operations.",
                hint: "Split it; what must be done together is rarely so much.")
        }
        self.space = space
        self.steps = steps
    }
}

/// Answer of `POST /v1/transactions`, after the change is durable.
public struct TransactionResponse: Codable, Hashable, Sendable {
    /// The result of one write.
    public enum Result: Hashable, Sendable {
        /// The object as the whole transaction left it; nil when a later step deleted it.
        case put(ObjectEntry?)
        /// The same.
        case edit(ObjectEntry?)
        /// False when there was nothing to delete.
        case delete(Bool)
        /// The event's dot.
        case emit(DotText)
    }

    /// The results, one per write, in the order of the writes.
    public var results: [Result]

    /// The one field.
    public init(results: [Result]) { self.results = results }
}
