import SyncModel

/// Replicas with names, for stories.
enum People {
    static let anna = replica(1)
    static let ben = replica(2)
    static let cleo = replica(3)

    static func replica(_ number: UInt8) -> ReplicaID {
        ReplicaID(device: DeviceID(bytes: [UInt8](repeating: number, count: 32))!, incarnation: 1)
    }
}

extension Document {
    /// Writes at a wall clock that nobody looks at.
    @discardableResult
    mutating func write(
        _ milliseconds: Int64 = 1_000, _ body: (inout Draft<Value>) -> Void
    ) -> DocumentChange<Value.Operation>? {
        edit(wallMilliseconds: milliseconds, body)
    }
}

/// Both take in what the other holds.
func exchange<Value>(_ one: inout Document<Value>, _ other: inout Document<Value>) {
    let before = one
    one.merge(other)
    other.merge(before)
}
