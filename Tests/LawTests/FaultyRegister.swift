import LawHistories
import ReferenceModels
import SyncModel

/// A write replaces only what has a lesser stamp, whatever its author had seen: one clock that was ahead locks the value.
struct StampedRegister: Replicated {
    struct Written: Hashable, Sendable, Codable {
        let key: CanonicalKey
        let value: ExactString
    }

    typealias Operation = ReplicatedRegister<ExactString>.Operation
    typealias Delta = [Written]

    /// The greatest key first.
    private var written: [Written] = []

    init() {}

    var isLive: Bool { !written.isEmpty }
    var removal: Removal { Removal() }
    static func span(of operation: Operation) -> UInt64 { 1 }
    func delta(since vector: VersionVector) -> Delta { written }
    mutating func remove(_ removal: Removal, at origin: Origin) { written.removeAll { origin.knows($0.key.dot) } }

    mutating func apply(_ operation: StampedRegister.Operation, at origin: Origin) {
        switch operation {
        case .set(let value):
            written.removeAll { origin.knows($0.key.dot) && $0.key.stamp < origin.stamp }
            insert(Written(key: origin.key, value: value))
        }
    }

    mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        written.removeAll { theirs.covers($0.key.dot) && !delta.contains($0) }
        for other in delta where !held.covers(other.key.dot) { insert(other) }
    }

    private mutating func insert(_ other: Written) {
        guard !written.contains(other) else { return }
        written.append(other)
        written.sort { $1.key < $0.key }
    }
}

extension StampedRegister: Lawful {
    static var shape: Shape { .register }
    var reading: Reading { isLive ? .values(written.map { PlainText($0.value.string) }) : .nothing }

    func operations(for intent: Intent, by author: ReplicaID) -> [StampedRegister.Operation] {
        if case .set(let value) = intent { [.set(ExactString(value.string))] } else { [] }
    }

    static func plain(_ operation: StampedRegister.Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        ReplicatedRegister.plain(operation, by: author, in: cast)
    }
}
