extension ReplicatedDictionary: ByteCoded, StateCoded where Value: StateCoded {
    /// Layout: dots of creations; varint count; each key, ascending: key, value.
    @inlinable
    public func write(to writer: inout StateWriter) {
        writer.append(presence)
        writer.append(children: children)
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    ///
    /// Inlined, as is `children(refusing:)`: every object that is read is one, and code that is generic over the types of keys
    /// and values took half of that time.
    @inlinable
    public init(restoring reader: inout StateReader) throws(CodecError) {
        self.init()
        presence = try DotSet(restoring: &reader)
        children = try reader.children(refusing: Value())
        for child in children.values where child.isLive { liveCount += 1 }
    }
}

extension ReplicatedDictionary.Delta: ByteCoded, StateCoded where Value.Delta: StateCoded {
    /// Layout: as of the state.
    public func write(to writer: inout StateWriter) {
        writer.append(presence)
        writer.append(children: children)
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        presence = try DotSet(restoring: &reader)
        children = try reader.children(refusing: nil)
    }
}

extension ReplicatedDictionary.Operation: ByteCoded where Value.Operation: ByteCoded {
    /// Layout: 0, or 1 (update), key, operation, or 2 (remove), key, removal.
    @inlinable
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .create: bytes.append(0)
        case .update(let key, let nested):
            bytes.append(1)
            key.append(to: &bytes)
            nested.append(to: &bytes)
        case .remove(let key, let removal):
            bytes.append(2)
            key.append(to: &bytes)
            removal.append(to: &bytes)
        }
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    @inlinable
    public init(reading reader: inout ByteReader) throws(CodecError) {
        switch try reader.byte() {
        case 0: self = .create
        case 1:
            let key = try Key(reading: &reader)
            self = .update(key, try Value.Operation(reading: &reader))
        case 2:
            let key = try Key(reading: &reader)
            self = .remove(key, try Removal(reading: &reader))
        case _: throw .outOfRange(field: "dictionary.operation")
        }
    }
}

extension StateWriter {
    @inlinable
    mutating func append<Key: ReplicableElement & ByteCoded, Content: StateCoded>(
        children: [Key: Content]
    ) {
        append(varint: UInt64(children.count))
        for key in children.keys.sorted() {
            guard let content = children[key] else { continue }
            append(element: key)
            append(content)
        }
    }
}

extension StateReader {
    /// `nothing` is what no key may have: a state that holds nothing is not kept.
    @inlinable
    mutating func children<Key: ReplicableElement & ByteCoded, Content: StateCoded & Equatable>(
        refusing nothing: Content?
    ) throws(CodecError) -> [Key: Content] {
        let count = try count(bytesEach: 2, "keys")
        var children: [Key: Content] = [:]
        children.reserveCapacity(count)
        var last: Key?
        for _ in 0..<count {
            let key = try Key(reading: &bytes)
            if let last, last >= key { throw .outOfRange(field: "keys") }
            last = key
            let content = try Content(restoring: &self)
            guard content != nothing else { throw .outOfRange(field: "keys") }
            children[key] = content
        }
        return children
    }
}
