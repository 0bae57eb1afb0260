package import ReferenceModels
package import SyncModel

extension ReplicatedList: Lawful where Value: Lawful {
    package static var shape: Shape { .list(Value.shape) }

    package var reading: Reading { isLive ? .items(map(\.reading)) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .insert(let index, let intents):
            one(
                operation(
                    inserting: intents.compactMap { Value().operations(for: $0, by: author).first }, at: index,
                    by: author))
        case .edit(let index, let nested):
            self[index].operations(for: nested, by: author).map { operation(editing: index, $0, by: author) }
        case .delete(let index, let count): one(operation(deleting: index..<index + count, by: author))
        case .move(let source, let target): one(operation(moving: source, to: target, by: author))
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .insert(let placement, let values):
            .insert(cast.plain(placement, by: author), values.map { Value.plain($0, by: author, in: cast) })
        case .edit(let element, let nested):
            .edit(cast.plain(element, by: author), Value.plain(nested, by: author, in: cast))
        case .delete(let ranges): .delete(cast.plain(ranges, by: author))
        case .move(let element, let placement):
            .move(cast.plain(element, by: author), cast.plain(placement, by: author))
        }
    }
}

extension ReplicatedOrderedSet: Lawful where Element: LawElement {
    package static var shape: Shape { .orderedSet }

    package var reading: Reading { isLive ? .sequence(plain) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .place(let index, let values): one(operation(inserting: values.map { Element($0) }, at: index, by: author))
        case .remove(let value): one(operation(removing: [Element(value)]))
        case .delete(let index, let count): one(operation(removing: index..<index + count))
        case .move(let source, let target): one(operation(moving: source, to: target, by: author))
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .insert(let placement, let values): .place(values.plain, cast.plain(placement, by: author))
        case .remove(let values): .takeOut(values.plain)
        case .move(let value, let placement): .replace(value.plain, cast.plain(placement, by: author))
        }
    }
}

extension ReplicatedText: Lawful {
    package static var shape: Shape { .text }

    package var reading: Reading { isLive ? .text(PlainText(string)) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .type(let offset, let text): one(operation(inserting: text.string, at: offset, by: author))
        case .delete(let offset, let count): one(operation(deleting: offset..<offset + count, by: author))
        case .rewrite(let text): Self.revised(operations(setting: text.string, by: author))
        case _: []
        }
    }

    /// The same in one go, and of each run a last letter that is gone again; as it is, if nothing is typed.
    private static func revised(_ operations: [Operation]) -> [Operation] {
        var runs: [TextRevision.Run] = []
        var gone: [Range<Int>] = []
        var text = ""
        var deleted: [DotRange] = []
        var count = 0
        for operation in operations {
            switch operation {
            case .insert(let placement, let inserted):
                let length = inserted.string.unicodeScalars.count
                runs.append(TextRevision.Run(placement: placement, count: length + 1))
                gone.append(count + length..<count + length + 1)
                text += inserted.string
                count += length + 1
            case .delete(let ranges): deleted += ranges
            case .create, .revise: return operations
            }
        }
        guard !runs.isEmpty,
            let revision = TextRevision(runs: runs, gone: gone, text: ExactString(text), deleted: deleted)
        else { return operations }
        return [.revise(revision)]
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .insert(let placement, let text):
            .type(cast.plain(placement, by: author), Array(text.string.unicodeScalars))
        case .delete(let ranges): .erase(cast.plain(ranges, by: author))
        case .revise(let revision):
            .revise(plain(revision, by: author, in: cast), cast.plain(revision.deleted, by: author))
        }
    }

    private static func plain(_ revision: TextRevision, by author: ReplicaID, in cast: Cast) -> [PlainRun] {
        let gone = Set(revision.gone.joined())
        let scalars = revision.scalars.enumerated().map { gone.contains($0) ? nil : Unicode.Scalar($1) }
        var start = 0
        return revision.runs.map { run in
            defer { start += run.count }
            return PlainRun(
                place: cast.plain(run.placement, by: author), scalars: Array(scalars[start..<start + run.count]))
        }
    }
}

private func one<Operation>(_ operation: Operation?) -> [Operation] { operation.map { [$0] } ?? [] }
