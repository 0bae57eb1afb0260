package import ReferenceModels
package import SyncModel

extension ReplicatedSet: Lawful where Element == ExactString {
    package static var shape: Shape { .set }

    package var reading: Reading { isLive ? .elements(elements.map(PlainText.init)) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .add(let element): [.add(element.exact)]
        case .remove(let element): [.remove(element.exact)]
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .add(let element): .add(PlainText(element))
        case .remove(let element): .remove(PlainText(element))
        }
    }
}

extension AddOnlySet: Lawful where Element == ExactString {
    package static var shape: Shape { .addOnlySet }

    package var reading: Reading { isLive ? .elements(elements.map(PlainText.init)) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .add(let element): [.add(element.exact)]
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .add(let element): .add(PlainText(element))
        }
    }
}

extension ReplicatedDictionary: Lawful where Key == ExactString, Value: Lawful {
    package static var shape: Shape { .dictionary(Value.shape) }

    package var reading: Reading {
        isLive ? .entries(map { Reading.Entry(key: PlainText($0.key), value: $0.value.reading) }) : .nothing
    }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .update(let key, let nested):
            state(of: key.exact).operations(for: nested, by: author).map { .update(key.exact, $0) }
        case .removeKey(let key): removing(key.exact).map { [$0] } ?? []
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .update(let key, let nested): .update(PlainText(key), Value.plain(nested, by: author, in: cast))
        case .remove(let key, _): .removeKey(PlainText(key))
        }
    }
}
