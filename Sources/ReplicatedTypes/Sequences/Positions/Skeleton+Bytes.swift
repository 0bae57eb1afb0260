extension Skeleton: StateCoded {
    private enum Code {
        static let before: UInt64 = 0
        static let atBeginning: UInt64 = 1
        static let atBeginningFollowed: UInt64 = 2
        static let after: UInt64 = 3
        static let afterFollowed: UInt64 = 4
    }

    /// Layout: varint count of runs; each: first dot, varint (count − 1), varint place, then the dots that the place names.
    package func write(to writer: inout StateWriter) {
        writer.append(varint: UInt64(runs.count))
        for run in runs {
            writer.append(run.first)
            writer.append(varint: run.count - 1)
            switch run.place {
            case .before(let next):
                writer.append(varint: Code.before)
                writer.append(next)
            case .after(nil, rightOrigin: nil): writer.append(varint: Code.atBeginning)
            case .after(nil, rightOrigin: let next?):
                writer.append(varint: Code.atBeginningFollowed)
                writer.append(next)
            case .after(let previous?, rightOrigin: nil):
                writer.append(varint: Code.after)
                writer.append(previous)
            case .after(let previous?, rightOrigin: let next?):
                writer.append(varint: Code.afterFollowed)
                writer.append(previous)
                writer.append(next)
            }
        }
    }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        var room = PositionTree.decodedLimit
        for _ in 0..<(try reader.count(bytesEach: 4, "skeleton")) {
            let first = try reader.dot()
            guard room > 0 else { throw .outOfRange(field: "skeleton.count") }
            let count = try reader.varint(upTo: room - 1, "skeleton.count") + 1
            room -= count
            let run = Run(first: first, count: count, place: try Self.place(&reader))
            if let last = runs.last {
                guard last.isBefore(run), !last.continues(with: run) else { throw .outOfRange(field: "skeleton") }
            }
            runs.append(run)
        }
    }

    private static func place(_ reader: inout StateReader) throws(CodecError) -> Run.Place {
        switch try reader.varint() {
        case Code.before: .before(try reader.dot())
        case Code.atBeginning: .after(nil, rightOrigin: nil)
        case Code.atBeginningFollowed: .after(nil, rightOrigin: try reader.dot())
        case Code.after: .after(try reader.dot(), rightOrigin: nil)
        case Code.afterFollowed: .after(try reader.dot(), rightOrigin: try reader.dot())
        case _: throw .outOfRange(field: "skeleton.place")
        }
    }
}

extension Skeleton.Run {
    fileprivate func isBefore(_ next: Skeleton.Run) -> Bool {
        first.replica == next.first.replica
            ? first.counter + count <= next.first.counter : first.replica < next.first.replica
    }
}
