/// The edits that an author made in one go, as one operation: runs of new scalars, the new scalars that are deleted again,
/// and the deleted earlier scalars.
///
/// Counters belong to the new scalars, in the order of the runs. A new scalar that is deleted again has a place, since others
/// may hang from it, and no text: only its author ever saw it.
public struct TextRevision: Hashable, Sendable {
    /// A run of new scalars next to each other.
    package struct Run: Hashable, Sendable {
        package let placement: Placement
        package let count: Int

        package init(placement: Placement, count: Int) {
            self.placement = placement
            self.count = count
        }
    }

    /// The runs; at least one, each of at least one scalar.
    package let runs: [Run]
    /// The deleted ranges among the new scalars, counted from 0: ascending, not touching.
    package let gone: [Range<Int>]
    /// The new scalars that live.
    package let text: ExactString
    /// The deleted scalars that were written before this.
    package let deleted: [DotRange]
    /// The number of new scalars.
    let count: Int

    /// Returns the maximum number of new scalars that are deleted again, for a text of `count` bytes of UTF-8. Such a scalar
    /// costs no byte, so the maximum bounds the memory that a few bytes can make a peer reserve. It allows for an author that
    /// keeps one letter in sixteen.
    static func goneLimit(utf8 count: Int) -> Int { 256 + 16 * count }

    /// Nil: too many are gone, or all together too many.
    package init?(runs: [Run], gone: [Range<Int>], text: ExactString, deleted: [DotRange]) {
        self.runs = runs
        self.gone = gone
        self.text = text
        self.deleted = deleted
        count = runs.reduce(0) { $0 + $1.count }
        guard count <= PositionTree.decodedLimit,
            gone.reduce(0, { $0 + $1.count }) <= Self.goneLimit(utf8: text.string.utf8.count)
        else { return nil }
    }

    /// Returns the same with each run where `place` puts it.
    ///
    /// - Parameter deleted: what it deletes; nil for the same.
    package func placing(_ place: (Placement) -> Placement, deleting deleted: [DotRange]? = nil) -> TextRevision {
        let runs = runs.map { Run(placement: place($0.placement), count: $0.count) }
        let placed = TextRevision(runs: runs, gone: gone, text: text, deleted: deleted ?? self.deleted)
        guard let placed else { preconditionFailure("as many scalars as before, and as many of them gone") }
        return placed
    }

    /// The new scalars, 0 for those that are gone.
    package var scalars: [UInt32] {
        var scalars: [UInt32] = []
        scalars.reserveCapacity(count)
        var rest = gone[...]
        for scalar in text.string.unicodeScalars {
            while let next = rest.first, next.lowerBound == scalars.count {
                scalars.append(contentsOf: repeatElement(0, count: next.count))
                rest = rest.dropFirst()
            }
            scalars.append(scalar.value)
        }
        scalars.append(contentsOf: repeatElement(0, count: count - scalars.count))
        return scalars
    }
}

extension TextRevision: Codable {
    /// Refuses what is none.
    public init(from decoder: any Decoder) throws {
        let bytes = try decoder.singleValueContainer().decode([UInt8].self)
        do { try self.init(canonicalBytes: bytes) } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a revision of a text: \(error)"))
        }
    }

    /// Encodes the canonical bytes.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(canonicalBytes)
    }
}
