/// A table of one value per replica, sorted by replica. Writers of one value are few: found by binary search, without
/// hashing.
struct ReplicaTable<Value: Hashable & Sendable & Codable>: Hashable, Sendable {
    struct Pair: Hashable, Sendable, Codable {
        let replica: ReplicaID
        var value: Value
    }

    private var sorted: Few<Pair> = .none

    var pairs: some Sequence<(replica: ReplicaID, value: Value)> { sorted.lazy.map { ($0.replica, $0.value) } }

    var values: some Sequence<Value> { sorted.lazy.map { $0.value } }

    subscript(replica: ReplicaID) -> Value? {
        let index = position(of: replica)
        return index < sorted.count && sorted[index].replica == replica ? sorted[index].value : nil
    }

    func filter(_ isIncluded: (ReplicaID, Value) -> Bool) -> ReplicaTable {
        var result = ReplicaTable()
        result.sorted = Few(sorted.filter { isIncluded($0.replica, $0.value) })
        return result
    }

    /// Changes the value of `replica`; one that is still `initial` afterwards is not kept.
    mutating func update(_ replica: ReplicaID, default initial: Value, _ change: (inout Value) -> Void) {
        let index = position(of: replica)
        if index < sorted.count, sorted[index].replica == replica {
            sorted.update(at: index) { change(&$0.value) }
        } else {
            var value = initial
            change(&value)
            if value != initial { sorted.insert(Pair(replica: replica, value: value), at: index) }
        }
    }

    private func position(of replica: ReplicaID) -> Int {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].replica < replica { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ReplicaTable: Codable {
    init(from decoder: any Decoder) throws {
        let pairs = try decoder.singleValueContainer().decode([Pair].self)
        var last: ReplicaID?
        for pair in pairs {
            if let last, last >= pair.replica {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "replicas out of order"))
            }
            last = pair.replica
        }
        sorted = Few(pairs)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Array(sorted))
    }
}

extension ReplicaTable: ByteCoded, StateCoded where Value: ByteCoded {
    /// Layout: varint count; each, ascending: replica, value.
    func write(to writer: inout StateWriter) {
        writer.append(varint: UInt64(sorted.count))
        for pair in sorted {
            writer.append(pair.replica)
            writer.append(element: pair.value)
        }
    }

    init(restoring reader: inout StateReader) throws(CodecError) {
        var pairs: [Pair] = []
        for _ in 0..<(try reader.count(bytesEach: 2, "replicas")) {
            let replica = try reader.replica()
            if let last = pairs.last, last.replica >= replica { throw .outOfRange(field: "replicas") }
            pairs.append(Pair(replica: replica, value: try Value(reading: &reader.bytes)))
        }
        sorted = Few(pairs)
    }
}
