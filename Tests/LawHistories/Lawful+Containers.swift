package import ReferenceModels
package import SyncModel

extension ReplicatedSet: Lawful where Element: LawElement {
    package static var shape: Shape { .set }

    package var reading: Reading { isLive ? .elements(inOrder(elements)) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .add(let element): [.add(Element(element))]
        case .remove(let element): [.remove(Element(element))]
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .add(let element): .add(element.plain)
        case .remove(let element): .remove(element.plain)
        }
    }
}

extension AddOnlySet: Lawful where Element: LawElement {
    package static var shape: Shape { .addOnlySet }

    package var reading: Reading { isLive ? .elements(inOrder(elements)) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        switch intent {
        case .create: [.create]
        case .add(let element): [.add(Element(element))]
        case _: []
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .create: .create
        case .add(let element): .add(element.plain)
        }
    }
}

extension ReplicatedDictionary: Lawful where Key == ExactString, Value: Lawful {
    package static var shape: Shape { .dictionary(Value.shape) }

    package var reading: Reading {
        isLive ? .entries(map { Reading.Entry(key: $0.key.plain, value: $0.value.reading) }) : .nothing
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
        case .update(let key, let nested): .update(key.plain, Value.plain(nested, by: author, in: cast))
        case .remove(let key, _): .removeKey(key.plain)
        }
    }
}

/// As the reference models sort them. A set that does not come in its own order shows something that no model says.
private func inOrder<Element: LawElement>(_ elements: [Element]) -> [PlainText] {
    zip(elements, elements.dropFirst()).allSatisfy { $0 < $1 } ? elements.plain.sorted() : ["out of order"]
}
