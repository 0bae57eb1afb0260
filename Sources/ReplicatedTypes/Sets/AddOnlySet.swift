/// A set that only grows: the union of everything any replica added.
///
/// Nothing takes a single element out; removing the key above removes what the remover had seen.
public struct AddOnlySet<Element: ReplicableElement>: Replicated {
    /// The operations on an add-only set.
    public enum Operation: Hashable, Sendable, Codable {
        /// Makes the set visible, even while it is empty.
        case create
        /// Puts the element in; replaces the additions of it that the author had seen.
        case add(Element)
    }

    /// The part of a set that a replica lacks.
    public typealias Delta = SetDelta<Element>

    private var store = DottedElements<Element>()

    /// Creates a set that no replica has created yet.
    public init() {}

    /// True if a reader sees anything of it.
    public var isLive: Bool { store.isLive }

    /// The number of counters that the operation owns.
    public static func span(of operation: Operation) -> UInt64 { 1 }

    /// Applies an operation whose causal past is applied; again, it changes nothing.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .create: store.create(at: origin)
        case .add(let element): store.add(element, at: origin)
        }
    }

    /// The data about inner counters that a removal of the whole has to carry.
    public var removal: Removal { Removal() }

    /// Removes everything the author of `origin` had seen.
    public mutating func remove(_ removal: Removal, at origin: Origin) { store.removeAll(knownTo: origin) }

    /// Returns the part that a replica which holds `vector` lacks.
    public func delta(since vector: VersionVector) -> Delta { store.delta(since: vector) }

    /// Takes in a delta that was made at `theirs`.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        store.join(delta, held: held, theirs: theirs)
    }
}

extension AddOnlySet {
    /// The number of elements.
    public var count: Int { store.dots.count }

    /// True if there is no element. An empty set that was created is live all the same.
    public var isEmpty: Bool { store.dots.isEmpty }

    /// True if a replica created the set explicitly, so that it is present even when empty.
    public var isCreated: Bool { !store.presence.isEmpty }

    /// The dots of explicit creations.
    var creations: DotSet { store.presence }

    /// True if `element` is in the set. Constant time.
    public func contains(_ element: Element) -> Bool { store.dots[element] != nil }

    /// The dots of the additions that made `element` live; empty when it is not in the set.
    public func dots(of element: Element) -> DotSet { store.dots[element] ?? DotSet() }

    /// The elements in order.
    public var elements: [Element] { store.sorted }
}

/// The elements in ascending order, the same on every node. Each iteration sorts anew.
extension AddOnlySet: Sequence {
    /// Over all of it, in order.
    public func makeIterator() -> IndexingIterator<[Element]> { store.sorted.makeIterator() }

    /// The count.
    public var underestimatedCount: Int { count }

    /// Constant time, where `contains` asks for it.
    public func _customContainsEquatableElement(_ element: Element) -> Bool? { contains(element) }
}

extension AddOnlySet: CustomStringConvertible {
    /// The elements in order.
    public var description: String { "[" + store.sorted.map { "\($0)" }.joined(separator: ", ") + "]" }
}

extension AddOnlySet: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws { store = try DottedElements(from: decoder) }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws { try store.encode(to: encoder) }
}

extension AddOnlySet: ByteCoded, StateCoded where Element: ByteCoded {
    /// Layout: that of `DottedElements`.
    public func write(to writer: inout StateWriter) { writer.append(store) }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        store = try DottedElements(restoring: &reader)
    }
}

extension AddOnlySet.Operation: ByteCoded where Element: ByteCoded {
    /// Layout: 0, or 1 and the element.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .create: bytes.append(0)
        case .add(let element):
            bytes.append(1)
            element.append(to: &bytes)
        }
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        switch try reader.byte() {
        case 0: self = .create
        case 1: self = .add(try Element(reading: &reader))
        case _: throw .outOfRange(field: "set.operation")
        }
    }
}
