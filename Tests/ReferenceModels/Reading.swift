/// What a reader of a replicated value sees.
package indirect enum Reading: Equatable, Sendable {
    /// Nothing live.
    case nothing
    /// Of registers and constants: the value shown, then the others in the order in which they would be shown.
    case values([PlainText])
    case total(Int64)
    /// Of sets: ascending.
    case elements([PlainText])
    /// Of lists.
    case items([Reading])
    /// Of ordered sets, in their order.
    case sequence([PlainText])
    case text(PlainText)
    /// Of dictionaries and structs; ascending keys, only those that are there.
    case entries([Entry])
    /// Of a value of several types; ascending kinds.
    case typed([Part])

    package struct Entry: Equatable, Sendable {
        package var key: PlainText
        package var value: Reading

        package init(key: PlainText, value: Reading) {
            self.key = key
            self.value = value
        }
    }

    package struct Part: Equatable, Sendable {
        package var kind: Kind
        package var value: Reading

        package init(kind: Kind, value: Reading) {
            self.kind = kind
            self.value = value
        }
    }
}

extension Reading {
    package var isNothing: Bool {
        if case .nothing = self { true } else { false }
    }

    /// The same, as if containers without content were not there.
    package var withoutEmpties: Reading {
        switch self {
        case .nothing, .values, .total: return self
        case .elements(let elements), .sequence(let elements): return elements.isEmpty ? .nothing : self
        case .text(let text): return text.string.isEmpty ? .nothing : self
        case .items(let items): return items.isEmpty ? .nothing : .items(items.map(\.withoutEmpties))
        case .entries(let entries):
            let full = entries.map { Entry(key: $0.key, value: $0.value.withoutEmpties) }.filter { !$0.value.isNothing }
            return full.isEmpty ? .nothing : .entries(full)
        case .typed(let parts):
            let full = parts.map { Part(kind: $0.kind, value: $0.value.withoutEmpties) }.filter { !$0.value.isNothing }
            return full.isEmpty ? .nothing : .typed(full)
        }
    }
}

extension Reading: CustomStringConvertible {
    package var description: String {
        switch self {
        case .nothing: "nothing"
        case .values(let values): values.map(\.description).joined(separator: "/")
        case .total(let total): String(total)
        case .elements(let elements): "{" + elements.map(\.description).joined(separator: ", ") + "}"
        case .items(let items): "[" + items.map(\.description).joined(separator: ", ") + "]"
        case .sequence(let elements): "<" + elements.map(\.description).joined(separator: ", ") + ">"
        case .text(let text): "text \(text)"
        case .entries(let entries): "[" + entries.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
        case .typed(let parts): "(" + parts.map { "\($0.kind) \($0.value)" }.joined(separator: " | ") + ")"
        }
    }
}
