/// What somebody wants to do to a value that they look at. Indices are taken modulo what is there, so that an intent makes
/// sense in every history, also in one from which steps were dropped.
package indirect enum Intent: Equatable, Sendable {
    case create
    case set(PlainText)
    case increment(Int64)
    case add(PlainText)
    /// Of sets and ordered sets.
    case remove(PlainText)
    case update(PlainText, Intent)
    case removeKey(PlainText)
    case insert(at: Int, [Intent])
    case edit(at: Int, Intent)
    /// Of lists, ordered sets, text.
    case delete(at: Int, count: Int)
    case move(from: Int, to: Int)
    case place(at: Int, [PlainText])
    case type(at: Int, PlainText)
    /// Makes the text this one, by the least edits.
    case rewrite(PlainText)
    case typed(Kind, Intent)

    /// Whether sums may leave 64 bits, which nobody can foresee who sees the sum only.
    package var isHuge: Bool {
        switch self {
        case .increment(let amount): amount.magnitude > 1 << 40
        case .update(_, let nested), .edit(_, let nested), .typed(_, let nested): nested.isHuge
        case .insert(_, let values): values.contains(where: \.isHuge)
        case .create, .set, .add, .remove, .removeKey, .delete, .move, .place, .type, .rewrite: false
        }
    }
}

extension Intent: CustomStringConvertible {
    /// As Swift code.
    package var description: String {
        switch self {
        case .create: ".create"
        case .set(let value): ".set(\(value))"
        case .increment(let amount): ".increment(\(amount))"
        case .add(let value): ".add(\(value))"
        case .remove(let value): ".remove(\(value))"
        case .update(let key, let nested): ".update(\(key), \(nested))"
        case .removeKey(let key): ".removeKey(\(key))"
        case .insert(let index, let values):
            ".insert(at: \(index), [\(values.map(\.description).joined(separator: ", "))])"
        case .edit(let index, let nested): ".edit(at: \(index), \(nested))"
        case .delete(let index, let count): ".delete(at: \(index), count: \(count))"
        case .move(let source, let target): ".move(from: \(source), to: \(target))"
        case .place(let index, let values):
            ".place(at: \(index), [\(values.map(\.description).joined(separator: ", "))])"
        case .type(let index, let text): ".type(at: \(index), \(text))"
        case .rewrite(let text): ".rewrite(\(text))"
        case .typed(let kind, let nested): ".typed(.\(kind), \(nested))"
        }
    }
}

extension Intent {
    /// The same with less in it, for finding the smallest history that fails.
    package var simpler: [Intent] {
        switch self {
        case .create: []
        case .set(let value): value == "a" ? [] : [.set("a")]
        case .increment(let amount): amount == 1 ? [] : [.increment(1)]
        case .add(let value): value == "a" ? [] : [.add("a")]
        case .remove(let value): value == "a" ? [] : [.remove("a")]
        case .removeKey(let key): key == "a" ? [] : [.removeKey("a")]
        case .update(let key, let nested):
            (key == "a" ? [] : [.update("a", nested)]) + nested.simpler.map { .update(key, $0) }
        case .insert(let index, let values):
            (index == 0 ? [] : [.insert(at: 0, values)])
                + values.indices.filter { _ in values.count > 1 }.map { without in
                    .insert(at: index, values.indices.filter { $0 != without }.map { values[$0] })
                }
                + values.indices.flatMap { changed in
                    values[changed].simpler.map { simple in
                        .insert(at: index, values.indices.map { $0 == changed ? simple : values[$0] })
                    }
                }
        case .edit(let index, let nested):
            (index == 0 ? [] : [.edit(at: 0, nested)]) + nested.simpler.map { .edit(at: index, $0) }
        case .delete(let index, let count):
            (index == 0 ? [] : [.delete(at: 0, count: count)]) + (count == 1 ? [] : [.delete(at: index, count: 1)])
        case .move(let source, let target):
            (source == 0 ? [] : [.move(from: 0, to: target)]) + (target == 0 ? [] : [.move(from: source, to: 0)])
        case .place(let index, let values):
            (index == 0 ? [] : [.place(at: 0, values)])
                + (values.count == 1 ? [] : values.map { .place(at: index, [$0]) })
        case .type(let index, let text):
            (index == 0 ? [] : [.type(at: 0, text)]) + Self.shorter(text).map { .type(at: index, $0) }
        case .rewrite(let text): Self.shorter(text).map { .rewrite($0) }
        case .typed(let kind, let nested): nested.simpler.map { .typed(kind, $0) }
        }
    }

    private static func shorter(_ text: PlainText) -> [PlainText] {
        let scalars = Array(text.string.unicodeScalars)
        guard scalars.count > 1 else { return [] }
        return [scalars.prefix(1), scalars.dropFirst(), scalars.dropLast()].map { part in
            var string = ""
            string.unicodeScalars.append(contentsOf: part)
            return PlainText(string)
        }
    }
}
