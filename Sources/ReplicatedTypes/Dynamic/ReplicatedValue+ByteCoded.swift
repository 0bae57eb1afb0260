/// Layout of a value: FF if it has no state; else each state: one byte, type rank · 2 + (another follows); its bytes. The
/// same of a delta.
private let nothing: UInt8 = 0xff

extension StateWriter {
    fileprivate mutating func append<Part>(
        _ parts: some Collection<Part>, _ type: (Part) -> FieldType, _ write: (Part, inout StateWriter) -> Void
    ) {
        var rest = parts.count
        if rest == 0 { bytes.append(nothing) }
        for part in parts {
            rest -= 1
            bytes.append(type(part).rank << 1 | (rest > 0 ? 1 : 0))
            write(part, &self)
        }
    }
}

extension StateReader {
    fileprivate mutating func parts<Part>(
        _ read: (FieldType, inout StateReader) throws(CodecError) -> Part
    ) throws(CodecError) -> [Part] {
        var head = try bytes.byte()
        if head == nothing { return [] }
        try bytes.descend()
        defer { bytes.ascend() }
        var parts: [Part] = []
        var last: FieldType?
        while true {
            guard let type = FieldType(rank: head >> 1) else { throw .outOfRange(field: "field.type") }
            if let last, last >= type { throw .outOfRange(field: "field.type") }
            last = type
            parts.append(try read(type, &self))
            if head & 1 == 0 { return parts }
            head = try bytes.byte()
        }
    }
}

extension ReplicatedValue: StateCoded {
    /// Layout: see the top of the file. What a list or a dictionary holds is nested: `ByteReader.maximumDepth`.
    public func write(to writer: inout StateWriter) {
        writer.append(states, \.type) { $0.write(to: &$1) }
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        let states = try reader.parts { type, reader throws(CodecError) in
            let state = try TypedState(type, from: &reader)
            guard state != TypedState(type) else { throw .outOfRange(field: "field.state") }
            return state
        }
        self.init(states)
    }
}

extension ReplicatedValue.Delta: StateCoded {
    /// Layout: as of a value.
    public func write(to writer: inout StateWriter) {
        writer.append(deltas, \.type) { $0.write(to: &$1) }
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        deltas = try reader.parts { type, reader throws(CodecError) in try TypedDelta(type, from: &reader) }
    }
}

extension TypedState {
    /// Layout: that of the state; the type is written before it.
    func write(to writer: inout StateWriter) {
        switch self {
        case .moved: preconditionFailure("a state is looked at while it is changed")
        case .register(let state): writer.append(state)
        case .constant(let state): writer.append(state)
        case .counter(let state): writer.append(state)
        case .set(let state): writer.append(state)
        case .addOnlySet(let state): writer.append(state)
        case .list(let state): writer.append(state)
        case .orderedSet(let state): writer.append(state)
        case .text(let state): writer.append(state)
        case .dictionary(let state): writer.append(state)
        }
    }

    init(_ type: FieldType, from reader: inout StateReader) throws(CodecError) {
        switch type {
        case .register: self = .register(try ReplicatedRegister<JSONValue>(restoring: &reader))
        case .constant: self = .constant(try Constant<JSONValue>(restoring: &reader))
        case .counter: self = .counter(try ReplicatedCounter(restoring: &reader))
        case .set: self = .set(try ReplicatedSet<JSONValue>(restoring: &reader))
        case .addOnlySet: self = .addOnlySet(try AddOnlySet<JSONValue>(restoring: &reader))
        case .list: self = .list(try ReplicatedList<ReplicatedValue>(restoring: &reader))
        case .orderedSet: self = .orderedSet(try ReplicatedOrderedSet<JSONValue>(restoring: &reader))
        case .text: self = .text(try ReplicatedText(restoring: &reader))
        case .dictionary: self = .dictionary(try ReplicatedDictionary<ExactString, ReplicatedValue>(restoring: &reader))
        }
    }
}

extension TypedDelta {
    /// Layout: that of the delta; the type is written before it.
    func write(to writer: inout StateWriter) {
        switch self {
        case .register(let delta): writer.append(delta)
        case .constant(let delta): writer.append(delta)
        case .counter(let delta): writer.append(delta)
        case .set(let delta): writer.append(delta)
        case .addOnlySet(let delta): writer.append(delta)
        case .list(let delta): writer.append(delta)
        case .orderedSet(let delta): writer.append(delta)
        case .text(let delta): writer.append(delta)
        case .dictionary(let delta): writer.append(delta)
        }
    }

    init(_ type: FieldType, from reader: inout StateReader) throws(CodecError) {
        switch type {
        case .register: self = .register(try ReplicatedRegister<JSONValue>.Delta(restoring: &reader))
        case .constant: self = .constant(try Constant<JSONValue>.Delta(restoring: &reader))
        case .counter: self = .counter(try ReplicatedCounter.Delta(restoring: &reader))
        case .set: self = .set(try ReplicatedSet<JSONValue>.Delta(restoring: &reader))
        case .addOnlySet: self = .addOnlySet(try AddOnlySet<JSONValue>.Delta(restoring: &reader))
        case .list: self = .list(try ReplicatedList<ReplicatedValue>.Delta(restoring: &reader))
        case .orderedSet: self = .orderedSet(try ReplicatedOrderedSet<JSONValue>.Delta(restoring: &reader))
        case .text: self = .text(try ReplicatedText.Delta(restoring: &reader))
        case .dictionary:
            self = .dictionary(try ReplicatedDictionary<ExactString, ReplicatedValue>.Delta(restoring: &reader))
        }
    }
}

extension ReplicatedValue.Operation: ByteCoded {
    /// Layout: one byte, the type's rank; the operation of that type.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(type.rank)
        switch self {
        case .register(let operation): operation.append(to: &bytes)
        case .constant(let operation): operation.append(to: &bytes)
        case .counter(let operation): operation.append(to: &bytes)
        case .set(let operation): operation.append(to: &bytes)
        case .addOnlySet(let operation): operation.append(to: &bytes)
        case .list(let operation): operation.append(to: &bytes)
        case .orderedSet(let operation): operation.append(to: &bytes)
        case .text(let operation): operation.append(to: &bytes)
        case .dictionary(let operation): operation.append(to: &bytes)
        }
    }

    /// Reads an operation. Operations on lists and dictionaries nest, up to `ByteReader.maximumDepth`.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        guard let type = FieldType(rank: try reader.byte()) else { throw .outOfRange(field: "field.type") }
        try reader.descend()
        defer { reader.ascend() }
        switch type {
        case .register: self = .register(try ReplicatedRegister<JSONValue>.Operation(reading: &reader))
        case .constant: self = .constant(try Constant<JSONValue>.Operation(reading: &reader))
        case .counter: self = .counter(try ReplicatedCounter.Operation(reading: &reader))
        case .set: self = .set(try ReplicatedSet<JSONValue>.Operation(reading: &reader))
        case .addOnlySet: self = .addOnlySet(try AddOnlySet<JSONValue>.Operation(reading: &reader))
        case .list: self = .list(try ReplicatedList<ReplicatedValue>.Operation(reading: &reader))
        case .orderedSet: self = .orderedSet(try ReplicatedOrderedSet<JSONValue>.Operation(reading: &reader))
        case .text: self = .text(try ReplicatedText.Operation(reading: &reader))
        case .dictionary:
            self = .dictionary(try ReplicatedDictionary<ExactString, ReplicatedValue>.Operation(reading: &reader))
        }
    }
}
