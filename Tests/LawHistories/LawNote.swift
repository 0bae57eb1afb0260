package import ReferenceModels
package import SyncModel

/// A struct of replicated members, as an application would write one.
package struct LawNote: ReplicatedStruct {
    var title = ReplicatedRegister<ExactString>()
    var tags = ReplicatedSet<ExactString>()
    var plays = ReplicatedDictionary<ExactString, ReplicatedCounter>()
    var items = ReplicatedList<ReplicatedCounter>()

    package init() {}

    package static let members = ReplicatedMembers(
        \LawNote.title, \LawNote.tags, \LawNote.plays, \LawNote.items)
}

extension LawNote: Lawful {
    package static var shape: Shape {
        .members([
            ("title", .register), ("tags", .set), ("plays", .dictionary(.counter)), ("items", .list(.counter)),
        ])
    }

    package var reading: Reading {
        let entries = [
            Reading.Entry(key: "items", value: items.reading), Reading.Entry(key: "plays", value: plays.reading),
            Reading.Entry(key: "tags", value: tags.reading), Reading.Entry(key: "title", value: title.reading),
        ].filter { !$0.value.isNothing }
        return isLive ? .entries(entries) : .nothing
    }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        guard case .update(let name, let nested) = intent else { return [] }
        switch name {
        case "title":
            return title.operations(for: nested, by: author).map { Self.members.operation($0, on: \.title) }
        case "tags": return tags.operations(for: nested, by: author).map { Self.members.operation($0, on: \.tags) }
        case "plays": return plays.operations(for: nested, by: author).map { Self.members.operation($0, on: \.plays) }
        case _: return items.operations(for: nested, by: author).map { Self.members.operation($0, on: \.items) }
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        // An operation on a member shows its parts only in its coded form.
        guard let coded: CodedOperation = try? JSONForm.read(JSONForm.bytes(operation)) else { return .create }
        switch coded {
        case .title(let nested): return .update("title", ReplicatedRegister.plain(nested, by: author, in: cast))
        case .tags(let nested): return .update("tags", ReplicatedSet.plain(nested, by: author, in: cast))
        case .plays(let nested):
            return .update("plays", ReplicatedDictionary.plain(nested, by: author, in: cast))
        case .items(let nested): return .update("items", ReplicatedList.plain(nested, by: author, in: cast))
        }
    }
}

/// The coded form of an operation on a member: its place, and what is done to it.
private enum CodedOperation: Decodable {
    case title(ReplicatedRegister<ExactString>.Operation)
    case tags(ReplicatedSet<ExactString>.Operation)
    case plays(ReplicatedDictionary<ExactString, ReplicatedCounter>.Operation)
    case items(ReplicatedList<ReplicatedCounter>.Operation)

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        switch try container.decode(Int.self) {
        case 0: self = .title(try container.decode(ReplicatedRegister<ExactString>.Operation.self))
        case 1: self = .tags(try container.decode(ReplicatedSet<ExactString>.Operation.self))
        case 2: self = .plays(try container.decode(ReplicatedDictionary<ExactString, ReplicatedCounter>.Operation.self))
        case _: self = .items(try container.decode(ReplicatedList<ReplicatedCounter>.Operation.self))
        }
    }
}
