import SyncModel

/// The places in a segment where the changes with a stream's events begin, so that a reader parses only those.
///
/// Encoded as pairs of varints, one pair per change: bytes from the change before (the first from 0), then the ordinal of the
/// stream's first event in that change, as the difference from the pair before. Two or three bytes a change.
package struct EventPlaces: Sendable, Equatable {
    package private(set) var bytes: [UInt8] = []
    private var lastChange = 0
    private var lastOrdinal: Int64 = 0

    package init() {}

    /// Called in order; a second event of the same change adds nothing.
    package mutating func append(change offset: Int, ordinal: Int64) {
        guard bytes.isEmpty || offset != lastChange else { return }
        bytes.append(varint: UInt64(offset - lastChange))
        bytes.append(varint: UInt64(ordinal - lastOrdinal))
        (lastChange, lastOrdinal) = (offset, ordinal)
    }

    package struct Place: Sendable, Equatable {
        package let change: Int
        /// The ordinal of the stream's first event in the change.
        package let ordinal: Int64
    }

    /// Reads an encoded list; nil for bytes that are none.
    package static func decoded(_ bytes: [UInt8]) -> [Place]? {
        var reader = ByteReader(bytes)
        var places: [Place] = []
        places.reserveCapacity(bytes.count / 3 + 1)
        var change = 0
        var ordinal: Int64 = 0
        while !reader.isAtEnd {
            guard let step = try? reader.varint(upTo: UInt64(UInt32.max), "places"),
                let count = try? reader.varint(upTo: UInt64(UInt32.max), "places")
            else { return nil }
            change += Int(step)
            ordinal += Int64(count)
            places.append(Place(change: change, ordinal: ordinal))
        }
        return places
    }
}
