// The compiler (Swift 6.3) crashes on an initializer that fills a stored tuple of a pack and can throw. So a cursor reads
// the members and keeps the first failure, and the caller of the initializer that fills the tuple throws it.

/// The encoding as a list of two: the member's place and its operation.
extension MemberOperation: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let cursor = MemberCursor(container, wanted: try container.decode(Int.self))
        cursor.container = container
        self.init(cursor)
        try cursor.finish()
    }

    private init(_ cursor: MemberCursor) { operations = (repeat cursor.next((each Member).Operation.self)) }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        var index = 0
        for operation in repeat each operations {
            if let operation {
                try container.encode(index)
                try container.encode(operation)
            }
            index += 1
        }
    }
}

/// The encoding as a list, in the order of the members; null for an empty delta.
extension MemberDeltas: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let cursor = MemberCursor(try decoder.unkeyedContainer(), wanted: nil)
        self.init(cursor)
        try cursor.finish()
    }

    private init(_ cursor: MemberCursor) { deltas = (repeat cursor.next((each Member).Delta.self)) }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for delta in repeat each deltas {
            if let delta { try container.encode(delta) } else { try container.encodeNil() }
        }
    }
}

private final class MemberCursor {
    var container: any UnkeyedDecodingContainer
    /// The only member that is there; nil when all are.
    private let wanted: Int?
    private var index = 0
    private var failure: (any Error)?

    init(_ container: any UnkeyedDecodingContainer, wanted: Int?) {
        self.container = container
        self.wanted = wanted
    }

    func next<Part: Decodable>(_ type: Part.Type) -> Part? {
        defer { index += 1 }
        guard failure == nil, wanted == nil || wanted == index else { return nil }
        do {
            // Members that a later version added are not in what an earlier one wrote.
            if container.isAtEnd { return nil }
            if wanted == nil, try container.decodeNil() { return nil }
            return try container.decode(type)
        } catch {
            failure = error
            return nil
        }
    }

    func finish() throws {
        if let failure { throw failure }
        if let wanted, !(0..<index).contains(wanted) {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no such member")
        }
    }
}
