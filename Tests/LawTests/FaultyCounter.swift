import LawHistories
import ReferenceModels
import SyncModel

/// A sum per replica, and nothing that says up to which increment: what arrives twice is added twice.
struct DoubleCounter: Replicated {
    struct Sum: Hashable, Sendable, Codable {
        let replica: ReplicaID
        var total: Int64
    }

    typealias Operation = ReplicatedCounter.Operation
    typealias Delta = [Sum]

    private var sums: [Sum] = []

    init() {}

    var isLive: Bool { !sums.isEmpty }
    var removal: Removal { Removal() }
    static func span(of operation: Operation) -> UInt64 { 1 }
    func delta(since vector: VersionVector) -> Delta { sums }
    mutating func remove(_ removal: Removal, at origin: Origin) {}

    mutating func apply(_ operation: DoubleCounter.Operation, at origin: Origin) {
        switch operation {
        case .increment(let amount): add(amount, of: origin.dot.replica)
        }
    }

    mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        for sum in delta where theirs.next(of: sum.replica) > held.next(of: sum.replica) {
            add(sum.total, of: sum.replica)
        }
    }

    private mutating func add(_ amount: Int64, of replica: ReplicaID) {
        if let index = sums.firstIndex(where: { $0.replica == replica }) {
            sums[index].total &+= amount
        } else {
            sums.append(Sum(replica: replica, total: amount))
            sums.sort { $0.replica < $1.replica }
        }
    }
}

extension DoubleCounter: Lawful {
    static var shape: Shape { .counter }
    var reading: Reading { isLive ? .total(sums.reduce(0) { $0 &+ $1.total }) : .nothing }

    func operations(for intent: Intent, by author: ReplicaID) -> [DoubleCounter.Operation] {
        if case .increment(let amount) = intent { [.increment(by: amount)] } else { [] }
    }

    static func plain(_ operation: DoubleCounter.Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        ReplicatedCounter.plain(operation, by: author, in: cast)
    }
}
