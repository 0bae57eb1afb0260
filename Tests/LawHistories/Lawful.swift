package import ReferenceModels
package import SyncModel

/// A replicated type that the laws can drive: it does what people want, and says in the words of the reference models what
/// it did and what it shows.
package protocol Lawful: Replicated {
    static var shape: Shape { get }

    /// What the value shows.
    var reading: Reading { get }

    /// The operations that do it, one after the other; none when there is nothing to write. Indices are resolved.
    func operations(for intent: Intent, by author: ReplicaID) -> [Operation]

    /// The operation as a reference model sees it, when `author` wrote it.
    static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation
}

/// The replicas of a history, in the order of their names.
package struct Cast: Sendable {
    package let replicas: [ReplicaID]

    /// Devices differ in one byte each; the last two replicas are incarnations of one device.
    package init(count: Int) {
        replicas = (0..<count).map { number in
            var bytes = [UInt8](repeating: 0, count: DeviceID.byteCount)
            bytes[0] = UInt8(min(number, max(1, count - 2)) * 37)
            guard let device = DeviceID(bytes: bytes) else { preconditionFailure("a device id has 32 bytes") }
            return ReplicaID(device: device, incarnation: UInt64(number) << 32)
        }
    }

    /// In any order, each once.
    package init(_ replicas: [ReplicaID]) { self.replicas = replicas.sorted() }

    package func plain(_ dot: Dot) -> PlainDot {
        // A replica that is none of these is never known to anybody.
        guard let number = replicas.firstIndex(of: dot.replica) else { return PlainDot(replica: 0, counter: .max) }
        return PlainDot(replica: number, counter: dot.counter)
    }

    package func plain(_ vector: VersionVector) -> [UInt64] { replicas.map { vector.next(of: $0) } }

    package func plain(_ reference: DotReference, by author: ReplicaID) -> PlainDot { plain(reference.dot(by: author)) }

    package func plain(_ ranges: [DotRange], by author: ReplicaID) -> [PlainDot] {
        ranges.flatMap { range in
            let first = range.first.dot(by: author)
            return (0..<range.count).map { plain(Dot(replica: first.replica, counter: first.counter + $0)) }
        }
    }

    package func plain(_ placement: Placement, by author: ReplicaID) -> PlainPlace {
        switch placement {
        case .before(let next): PlainPlace(before: plain(next, by: author))
        case .after(let previous, let follower):
            switch follower {
            case .inherited: PlainPlace(after: previous.map { plain($0, by: author) }, follower: .inherited)
            case .end: PlainPlace(after: previous.map { plain($0, by: author) }, follower: .end)
            case .node(let next):
                PlainPlace(after: previous.map { plain($0, by: author) }, follower: .node(plain(next, by: author)))
            }
        }
    }
}

extension PlainText {
    package var exact: ExactString { ExactString(string) }
}
