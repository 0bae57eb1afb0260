/// The content of both sets: each element with the dots of its additions, and the dots of explicit creations.
struct DottedElements<Element: ReplicableElement>: Hashable, Sendable {
    /// Invariant: no element without a dot.
    private(set) var dots: [Element: DotSet] = [:]
    private(set) var presence = DotSet()

    var isLive: Bool { !dots.isEmpty || !presence.isEmpty }

    var sorted: [Element] { dots.keys.sorted() }

    mutating func create(at origin: Origin) { presence.replace(at: origin) }

    mutating func add(_ element: Element, at origin: Origin) { dots[element, default: DotSet()].replace(at: origin) }

    mutating func remove(_ element: Element, knownTo origin: Origin) {
        guard let index = dots.index(forKey: element) else { return }
        if origin.faults.contains(.setForgetsContext) { dots.values[index] = DotSet() }
        dots.values[index].remove(knownTo: origin)
        if dots.values[index].isEmpty { dots.remove(at: index) }
    }

    mutating func removeAll(knownTo origin: Origin) {
        presence.remove(knownTo: origin)
        for element in Array(dots.keys) { remove(element, knownTo: origin) }
    }

    func delta(since vector: VersionVector) -> SetDelta<Element> {
        var delta = SetDelta<Element>(presence: presence, added: dots, kept: DotRuns())
        guard !vector.isEmpty else { return delta }
        delta.added = dots.filter { _, dots in !dots.allSatisfy(vector.covers) }
        delta.kept = DotRuns(dots.values.lazy.filter { $0.allSatisfy(vector.covers) }.joined())
        return delta
    }

    mutating func join(_ delta: SetDelta<Element>, held: VersionVector, theirs: VersionVector) {
        presence.join(delta.presence, held: held, theirs: theirs)
        guard dots != delta.added else { return }
        drop(missingFrom: delta, theirs: theirs)
        for (element, added) in delta.added {
            // What of it is live here was judged above, with the elements of this side.
            if let index = dots.index(forKey: element) {
                dots.values[index].join(added, held: held, theirs: VersionVector())
            } else {
                let unseen = DotSet(added.filter { !held.covers($0) })
                if !unseen.isEmpty { dots[element] = unseen }
            }
        }
    }

    private mutating func drop(missingFrom delta: SetDelta<Element>, theirs: VersionVector) {
        for (element, mine) in dots {
            let added = delta.added[element]
            let live = mine.filter { dot in
                !theirs.covers(dot) || delta.kept.contains(dot) || added?.contains(dot) ?? false
            }
            guard live.count < mine.count else { continue }
            dots[element] = live.isEmpty ? nil : DotSet(live)
        }
    }
}

extension DottedElements: Codable {
    init(from decoder: any Decoder) throws {
        let coded = try CodedElements<Element>(from: decoder)
        dots = coded.dictionary
        presence = coded.presence
    }

    func encode(to encoder: any Encoder) throws {
        try CodedElements(presence: presence, dots).encode(to: encoder)
    }
}

extension DottedElements: ByteCoded, StateCoded where Element: ByteCoded {
    /// Layout: dots of creations; varint count; each element, ascending: element, dots.
    func write(to writer: inout StateWriter) {
        writer.append(presence)
        writer.append(elements: dots)
    }

    init(restoring reader: inout StateReader) throws(CodecError) {
        presence = try DotSet(restoring: &reader)
        dots = try reader.elements()
    }
}

/// The part of a set that a replica lacks.
public struct SetDelta<Element: ReplicableElement>: Hashable, Sendable {
    let presence: DotSet
    /// Elements with an addition that the receiver does not hold; all their live dots.
    var added: [Element: DotSet]
    /// The live dots of all other elements.
    var kept: DotRuns
}

extension SetDelta: Codable {
    private enum CodingKeys: CodingKey {
        case added
        case kept
    }

    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let coded = try container.decode(CodedElements<Element>.self, forKey: .added)
        presence = coded.presence
        added = coded.dictionary
        kept = try container.decode(DotRuns.self, forKey: .kept)
    }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(CodedElements(presence: presence, added), forKey: .added)
        try container.encode(kept, forKey: .kept)
    }
}

extension SetDelta: ByteCoded, StateCoded where Element: ByteCoded {
    /// Layout: dots of creations; elements as in a set; runs.
    public func write(to writer: inout StateWriter) {
        writer.append(presence)
        writer.append(elements: added)
        writer.append(kept)
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        presence = try DotSet(restoring: &reader)
        added = try reader.elements()
        kept = try DotRuns(restoring: &reader)
    }
}
