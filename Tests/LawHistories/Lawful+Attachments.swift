package import ReferenceModels
package import SyncModel

extension AttachmentSet: Lawful {
    package static var shape: Shape { .attachments }

    package var reading: Reading {
        isLive ? .sequence(sorted.newestFirst.map { PlainText($0.file.name.string) }) : .nothing
    }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .add(let name): [.attach(.named(name.exact))]
        case .delete(let index, let count):
            sorted.newestFirst[index..<index + count].map { .detach(DotReference($0.id, by: author)) }
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .attach(let file): .add(PlainText(file.name.string))
        case .detach(let id): .delete([cast.plain(id, by: author)])
        }
    }
}
