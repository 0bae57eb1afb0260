// In which order runs can be put in, and what they leave to others to say.

extension TextColumns {
    /// Returns the runs in an order in which each comes behind what it names; nil if some name each other in a circle.
    ///
    /// A replica wrote its runs one after another, so a waiting run is always a replica's next one. The stack is an array:
    /// the sender of the columns decides how deep it grows.
    func causalOrder() -> [Int32]? {
        if replicas.count == 1 {
            // The usual text: what was written first comes first.
            for run in runs where !isBefore(run.parent, run) || !isBefore(run.rightOrigin, run) { return nil }
            return (0..<Int32(truncatingIfNeeded: runs.count)).map { $0 }
        }
        var order: [Int32] = []
        order.reserveCapacity(runs.count)
        // Per replica its next run.
        var next = Array(firstRuns.dropLast())
        var isOnStack = [Bool](repeating: false, count: replicas.count)
        for start in replicas.indices {
            // A replica, and the number that it must get behind.
            var stack: [(replica: Int, target: Int32)] = [(start, bases[start + 1] - 1)]
            isOnStack[start] = true
            while let (replica, target) = stack.last {
                guard done(replica, next) <= target else {
                    isOnStack[replica] = false
                    stack.removeLast()
                    continue
                }
                guard let missing = missing(of: runs[Int(next[replica])], next) else {
                    order.append(next[replica])
                    next[replica] += 1
                    continue
                }
                guard !isOnStack[missing.replica] else { return nil }
                isOnStack[missing.replica] = true
                stack.append(missing)
            }
        }
        return order
    }

    /// The number behind all that a replica has in order.
    private func done(_ replica: Int, _ next: [Int32]) -> Int32 {
        next[replica] < firstRuns[replica + 1] ? runs[Int(next[replica])].number : bases[replica + 1]
    }

    private func isBefore(_ reference: Reference, _ run: Run) -> Bool {
        guard let number = reference.here else { return true }
        return number < Int(run.number)
    }

    private func missing(of run: Run, _ next: [Int32]) -> (replica: Int, target: Int32)? {
        func missing(_ reference: Reference) -> (replica: Int, target: Int32)? {
            guard let here = reference.here else { return nil }
            let number = Int32(truncatingIfNeeded: here)
            let replica = bases.firstIndexPast { $0 > number } - 1
            return number < done(replica, next) ? nil : (replica, number)
        }
        return missing(run.parent) ?? missing(run.rightOrigin)
    }

    /// See `origins`; the finder is there.
    func resolvedRightOrigins() -> ContiguousArray<Reference> {
        var origins = ContiguousArray(runs.map(\.rightOrigin))
        for index in order {
            let run = runs[Int(index)]
            guard run.rightOrigin == .inherited else { continue }
            if let parent = run.parent.here {
                origins[Int(index)] = origins[finder.index(of: Int32(truncatingIfNeeded: parent))]
            } else if run.parent == .none {
                origins[Int(index)] = .none
            }
        }
        return origins
    }

    /// True if two references name the same scalar, or have the same meaning.
    func isSame(_ left: Reference, _ right: Reference) -> Bool {
        if left == right { return true }
        guard let left = left.elsewhere, let right = right.elsewhere else { return false }
        return elsewhere[left] == elsewhere[right]
    }
}

/// Reads references: each as the difference to the one before.
struct ReferenceReader {
    private let replicas: Int
    private var last: Int64 = 0
    /// The greatest number read; the caller checks it once the number of scalars is known.
    private(set) var greatest: Int64 = -1

    init(replicas: Int) { self.replicas = replicas }

    typealias Elsewhere = ContiguousArray<(replica: Int32, counter: UInt64)>

    mutating func parent(
        _ reader: inout ByteReader, _ elsewhere: inout Elsewhere
    ) throws(CodecError) -> TextColumns.Reference {
        let code = try reader.varint()
        return code == 0 ? .none : try reference(code - 1, &reader, &elsewhere)
    }

    mutating func rightOrigin(
        _ reader: inout ByteReader, _ elsewhere: inout Elsewhere
    ) throws(CodecError) -> TextColumns.Reference {
        try reference(try reader.varint(), &reader, &elsewhere)
    }

    private mutating func reference(
        _ code: UInt64, _ reader: inout ByteReader, _ elsewhere: inout Elsewhere
    ) throws(CodecError) -> TextColumns.Reference {
        if code & 1 == 1 {
            guard code >> 1 < UInt64(replicas) else { throw .outOfRange(field: "text.replica") }
            elsewhere.append(
                (Int32(truncatingIfNeeded: code >> 1), try reader.varint(upTo: Limits.counters, "text.counter")))
            return TextColumns.Reference(elsewhere: elsewhere.count - 1)
        }
        let zigzag = code >> 1
        guard zigzag <= PositionTree.decodedLimit * 2 else { throw .outOfRange(field: "text.reference") }
        last += Int64(zigzag >> 1) ^ -Int64(zigzag & 1)
        guard last >= 0, last <= Int64(PositionTree.decodedLimit) else { throw .outOfRange(field: "text.reference") }
        greatest = max(greatest, last)
        return TextColumns.Reference(here: Int32(truncatingIfNeeded: last))
    }
}
