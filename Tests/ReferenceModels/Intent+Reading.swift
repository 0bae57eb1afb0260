extension Intent {
    /// The same intent with indices that exist in `reading`; nil if there is nothing that it could be done to.
    package func resolved(on reading: Reading) -> Intent? {
        let count = reading.count
        switch self {
        case .create, .set, .increment, .add, .remove, .rewrite: return self
        case .removeKey(let key): return reading.value(of: key).isNothing ? nil : self
        case .update(let key, let nested): return nested.resolved(on: reading.value(of: key)).map { .update(key, $0) }
        case .insert(let index, let values):
            let resolved = values.compactMap { $0.resolved(on: .nothing) }
            return resolved.isEmpty ? nil : .insert(at: index.modulo(count + 1), resolved)
        case .edit(let index, let nested):
            guard count > 0, case .items(let items) = reading else { return nil }
            return nested.resolved(on: items[index.modulo(count)]).map { .edit(at: index.modulo(count), $0) }
        case .delete(let index, let length):
            guard count > 0 else { return nil }
            let start = index.modulo(count)
            return .delete(at: start, count: min(max(1, length), count - start))
        case .move(let source, let target):
            return count == 0 ? nil : .move(from: source.modulo(count), to: target.modulo(count))
        case .place(let index, let values): return .place(at: index.modulo(count + 1), values)
        case .type(let index, let text): return .type(at: index.modulo(count + 1), text)
        case .typed(let kind, let nested): return nested.resolved(on: reading.value(of: kind)).map { .typed(kind, $0) }
        }
    }

    /// What the reader should see who looked at `reading` and did this. Indices are resolved. Whether an emptied container
    /// is still there depends on whether it was created explicitly, which a reading does not show: compare `withoutEmpties`.
    package func done(to reading: Reading, shape: Shape) -> Reading {
        switch (self, shape) {
        case (.create, _): reading
        case (.set(let value), .constant): .values(reading.scalars + [value])
        case (.set(let value), _): .values([value])
        case (.increment(let amount), _): .total(reading.sum + amount)
        case (.add(let name), .attachments): .sequence([name] + reading.scalars)
        case (.add(let value), _): .elements(reading.scalars.filter { $0 != value }.inserting(value))
        case (.remove(let value), .orderedSet):
            .sequence(reading.scalars.filter { $0 != value })
        case (.remove(let value), _):
            .elements(reading.scalars.filter { $0 != value })
        case (.typed(let kind, let nested), _):
            reading.replacing(nested.done(to: reading.value(of: kind), shape: .of(kind)), kind)
        case (.update(let key, let nested), _):
            reading.replacing(nested.done(to: reading.value(of: key), shape: shape.value(of: key)), key)
        case (.removeKey(let key), _): reading.replacing(.nothing, key)
        case _: doneInSequence(to: reading, shape: shape)
        }
    }

    private func doneInSequence(to reading: Reading, shape: Shape) -> Reading {
        switch (self, shape) {
        case (.insert(let index, let values), .list(let nested)):
            var items = reading.items
            items.insert(contentsOf: values.map { $0.done(to: .nothing, shape: nested) }, at: index)
            return .items(items)
        case (.edit(let index, let edit), .list(let nested)):
            var items = reading.items
            items[index] = edit.done(to: items[index], shape: nested)
            return .items(items)
        case (.delete(let index, let count), .list):
            var items = reading.items
            items.removeSubrange(index..<index + count)
            return .items(items)
        case (.move(let source, let target), .list):
            var items = reading.items
            items.insert(items.remove(at: source), at: target)
            return .items(items)
        case (.place(let index, let values), _):
            var elements = reading.scalars
            var added: [PlainText] = []
            for value in values where !elements.contains(value) && !added.contains(value) { added.append(value) }
            elements.insert(contentsOf: added, at: index)
            return .sequence(elements)
        case (.delete(let index, let count), .orderedSet), (.delete(let index, let count), .attachments):
            var elements = reading.scalars
            elements.removeSubrange(index..<index + count)
            return .sequence(elements)
        case (.move(let source, let target), _):
            var elements = reading.scalars
            elements.insert(elements.remove(at: source), at: target)
            return .sequence(elements)
        case (.type(let index, let text), _):
            var scalars = reading.text
            scalars.insert(contentsOf: text.string.unicodeScalars, at: index)
            return .text(scalars)
        case (.delete(let index, let count), _):
            var scalars = reading.text
            scalars.removeSubrange(index..<index + count)
            return .text(scalars)
        case (.rewrite(let text), _): return .text(text)
        case _: return reading
        }
    }
}

extension Int {
    fileprivate func modulo(_ count: Int) -> Int {
        let rest = self % count
        return rest < 0 ? rest + count : rest
    }
}

extension [PlainText] {
    fileprivate func inserting(_ value: PlainText) -> [PlainText] { (self + [value]).sorted() }
}

extension Shape {
    package func value(of key: PlainText) -> Shape {
        switch self {
        case .dictionary(let nested): nested
        case .members(let members): members.first { $0.name == key }?.shape ?? .register
        case .register, .constant, .counter, .set, .addOnlySet, .list, .orderedSet, .text, .attachments, .any: self
        }
    }
}

extension Reading {
    var count: Int {
        switch self {
        case .nothing, .values, .total, .entries, .typed: 0
        case .elements(let elements), .sequence(let elements): elements.count
        case .items(let items): items.count
        case .text(let text): text.string.unicodeScalars.count
        }
    }

    fileprivate var items: [Reading] {
        if case .items(let items) = self { items } else { [] }
    }

    fileprivate var sum: Int64 {
        if case .total(let total) = self { total } else { 0 }
    }

    fileprivate var text: [Unicode.Scalar] {
        if case .text(let text) = self { Array(text.string.unicodeScalars) } else { [] }
    }

    fileprivate static func text(_ scalars: [Unicode.Scalar]) -> Reading {
        var string = ""
        string.unicodeScalars.append(contentsOf: scalars)
        return .text(PlainText(string))
    }

    /// Values, elements or the sequence, whatever it is.
    fileprivate var scalars: [PlainText] {
        switch self {
        case .values(let values), .elements(let values), .sequence(let values): values
        case .nothing, .total, .items, .text, .entries, .typed: []
        }
    }

    fileprivate func value(of key: PlainText) -> Reading {
        guard case .entries(let entries) = self else { return .nothing }
        return entries.first { $0.key == key }?.value ?? .nothing
    }

    fileprivate func value(of kind: Kind) -> Reading {
        guard case .typed(let parts) = self else { return .nothing }
        return parts.first { $0.kind == kind }?.value ?? .nothing
    }

    fileprivate func replacing(_ value: Reading, _ key: PlainText) -> Reading {
        var entries: [Entry] = if case .entries(let entries) = self { entries } else { [] }
        entries.removeAll { $0.key == key }
        if !value.isNothing { entries.append(Entry(key: key, value: value)) }
        return .entries(entries.sorted { $0.key < $1.key })
    }

    fileprivate func replacing(_ value: Reading, _ kind: Kind) -> Reading {
        var parts: [Part] = if case .typed(let parts) = self { parts } else { [] }
        parts.removeAll { $0.kind == kind }
        if !value.isNothing { parts.append(Part(kind: kind, value: value)) }
        return parts.isEmpty ? .nothing : .typed(parts.sorted { $0.kind < $1.kind })
    }
}
