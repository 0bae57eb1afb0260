extension ReplicatedCounter: StateCoded {
    /// Layout: that of `ReplicaTable`; an entry: varint next, signed total, varint baseNext, signed base.
    public func write(to writer: inout StateWriter) { entries.write(to: &writer) }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        entries = try ReplicaTable(restoring: &reader)
    }
}

extension ReplicatedCounter.Delta: StateCoded {
    /// Writes the canonical form.
    public func write(to writer: inout StateWriter) { entries.write(to: &writer) }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        entries = try ReplicaTable(restoring: &reader)
    }
}

extension ReplicatedCounter.Entry: ByteCoded {
    /// Layout: varint next, signed total, varint baseNext, signed base.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(varint: next)
        bytes.append(signed: total)
        bytes.append(varint: baseNext)
        bytes.append(signed: base)
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        next = try reader.varint(upTo: Limits.counters, "counter.next")
        total = try reader.signed()
        baseNext = try reader.varint(upTo: Limits.counters, "counter.base")
        base = try reader.signed()
        guard next > 0 || total == 0, baseNext > 0 || base == 0, next > 0 || baseNext > 0 else {
            throw .outOfRange(field: "counter")
        }
    }
}

extension ReplicatedCounter.Operation: ByteCoded {
    /// Layout: signed amount.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .increment(let amount): bytes.append(signed: amount)
        }
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) { self = .increment(by: try reader.signed()) }
}

extension ReplicatedCounter: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws { entries = try ReplicaTable(from: decoder) }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws { try entries.encode(to: encoder) }
}
