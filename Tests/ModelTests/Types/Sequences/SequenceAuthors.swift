import SyncModel

extension ReplicaID {
    /// The same in every run; replicas with greater numbers are greater.
    static func author(_ number: UInt8) -> ReplicaID {
        let device = DeviceID(bytes: [UInt8](repeating: number, count: DeviceID.byteCount))!
        return ReplicaID(device: device, incarnation: 1)
    }
}

extension Document {
    /// Documents of several authors, empty.
    static func documents(_ count: Int) -> [Document] {
        (1...count).map { Document(replica: .author(UInt8($0))) }
    }

    /// Edits at a moment when all clocks show the same.
    @discardableResult
    mutating func write(_ body: (inout Draft<Value>) -> Void) -> DocumentChange<Value.Operation>? {
        edit(wallMilliseconds: 1_700_000_000_000, body)
    }
}

/// Merges every document into every other.
func meet<Value>(_ documents: inout [Document<Value>]) {
    for index in documents.indices.dropFirst() { documents[0].merge(documents[index]) }
    for index in documents.indices.dropFirst() { documents[index].merge(documents[0]) }
}
