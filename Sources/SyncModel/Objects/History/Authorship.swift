/// A part of what a reader sees of a field, and the operation that put it there.
package struct AuthoredPart: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Scalars of a text from this offset on, whose dots follow each other; the part's is the first's.
        case text(offset: Int, String)
        /// A value, an element, or of a counter what one replica added.
        case value(JSONValue)
    }

    /// The field, then keys and indices.
    package let path: [ExactString]
    package let content: Content
    package let dot: Dot
}

/// Takes apart what a reader sees of a value. Several lives of one object are shown together, and taken apart so: `values`
/// are those of one place, a value per life that has it, in order of birth.
///
/// Of the dots that keep an element the last one counts that `isLater` gives: an element that was edited is its editor's.
struct Authorship {
    /// Returns true if the operation of the second dot is later than that of the first. The answer is the same on every node.
    let isLater: (Dot, Dot) -> Bool
    private(set) var parts: [AuthoredPart] = []

    init(isLater: @escaping (Dot, Dot) -> Bool) { self.isLater = isLater }

    mutating func add(_ values: [ReplicatedValue], preferring preferred: FieldType?, at path: [ExactString]) {
        guard let type = MergedValue(values).shown(preferring: preferred)?.type else { return }
        let live = values.filter { $0.types.contains(type) }
        switch type {
        case .register:
            let register = MergedValue.united(live.map(\.register))
            if let value = register.value, let dot = register.dots.first { add(value, dot, path) }
        case .constant:
            let constant = MergedValue.united(live.map(\.constant))
            if let value = constant.value, let dot = constant.dots.first { add(value, dot, path) }
        case .counter: for value in live { add(value.counter, path) }
        case .set:
            addElements(
                live.flatMap { value in value.set.map { (value: $0, dots: Array(value.set.dots(of: $0))) } }, path)
        case .addOnlySet:
            addElements(
                live.flatMap { value in value.addOnlySet.map { (value: $0, dots: Array(value.addOnlySet.dots(of: $0))) }
                }, path)
        case .orderedSet: addElements(live.flatMap { $0.orderedSet.authoredElements }, path)
        case .list: addElements(of: live.map(\.list), path)
        case .text: addText(live.map(\.text), path)
        case .dictionary:
            let dictionaries = live.map(\.dictionary)
            for key in Set(dictionaries.flatMap(\.keys)).sorted() {
                add(dictionaries.compactMap { $0[key] }, preferring: nil, at: path + [key])
            }
        }
    }

    private mutating func add(_ value: JSONValue, _ dot: Dot, _ path: [ExactString]) {
        parts.append(AuthoredPart(path: path, content: .value(value), dot: dot))
    }

    private mutating func add(_ counter: ReplicatedCounter, _ path: [ExactString]) {
        for (replica, entry) in counter.parts where entry.next > entry.baseNext {
            let amount = Int64(clamping: Int128(entry.total) - Int128(entry.base))
            add(.integer(amount), Dot(replica: replica, counter: entry.next - 1), path)
        }
    }

    /// Adds the elements in the order in which they are shown, each once.
    private mutating func addElements(_ elements: [(value: JSONValue, dots: [Dot])], _ path: [ExactString]) {
        var seen: Set<JSONValue> = []
        for element in elements where seen.insert(element.value).inserted {
            if let dot = latest(element.dots) { add(element.value, dot, path) }
        }
    }

    private mutating func addElements(of lists: [ReplicatedList<ReplicatedValue>], _ path: [ExactString]) {
        var index = 0
        for list in lists {
            for element in list.authoredElements {
                let (place, count) = (path + [ExactString(String(index))], parts.count)
                add([element.value], preferring: nil, at: place)
                // A container without anything in it, or a value of which nothing is left.
                if parts.count == count, let dot = latest(element.dots) {
                    add(element.value.json() ?? .null, dot, place)
                }
                index += 1
            }
        }
    }

    private mutating func addText(_ texts: [ReplicatedText], _ path: [ExactString]) {
        var offset = 0
        for text in texts {
            let scalars = text.string.unicodeScalars
            var start = scalars.startIndex
            for span in text.spans {
                let end = scalars.index(start, offsetBy: span.range.count)
                let content = AuthoredPart.Content.text(
                    offset: offset + span.range.lowerBound, String(scalars: scalars[start..<end]))
                parts.append(AuthoredPart(path: path, content: content, dot: span.first))
                start = end
            }
            offset += text.count
        }
    }

    private func latest(_ dots: [Dot]) -> Dot? { dots.max { isLater($0, $1) } }
}
