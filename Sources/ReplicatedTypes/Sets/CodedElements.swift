/// Elements with their dots as they leave the process: sorted.
struct CodedElements<Element: ReplicableElement>: Codable {
    struct Entry: Codable {
        let element: Element
        let dots: DotSet
    }

    let presence: DotSet
    let elements: [Entry]

    init(presence: DotSet, _ dots: [Element: DotSet]) {
        self.presence = presence
        elements = dots.map { Entry(element: $0.key, dots: $0.value) }.sorted { $0.element < $1.element }
    }

    var dictionary: [Element: DotSet] {
        Dictionary(
            elements.lazy.filter { !$0.dots.isEmpty }.map { ($0.element, $0.dots) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

extension StateWriter {
    mutating func append<Element: ReplicableElement & ByteCoded>(elements: [Element: DotSet]) {
        append(varint: UInt64(elements.count))
        for element in elements.keys.sorted() {
            append(element: element)
            append(elements[element, default: DotSet()])
        }
    }
}

extension StateReader {
    mutating func elements<Element: ReplicableElement & ByteCoded>() throws(CodecError) -> [Element: DotSet] {
        let count = try count(bytesEach: 3, "elements")
        var elements: [Element: DotSet] = [:]
        elements.reserveCapacity(count)
        var last: Element?
        for _ in 0..<count {
            let element = try Element(reading: &bytes)
            if let last, last >= element { throw .outOfRange(field: "elements") }
            last = element
            let dots = try DotSet(restoring: &self)
            guard !dots.isEmpty else { throw .outOfRange(field: "elements") }
            elements[element] = dots
        }
        return elements
    }
}
