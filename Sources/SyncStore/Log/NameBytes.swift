package import SyncModel

extension Name {
    /// A name as its UTF-8: equal and ordered by bytes, as SQLite does it. Two `String`s are equal already when they
    /// look the same, which would make one stream of two.
    package struct Bytes: Hashable, Comparable, Sendable {
        private let bytes: [UInt8]

        package init(_ name: String) { bytes = Array(name.utf8) }

        package var text: String { String(decoding: bytes, as: UTF8.self) }

        package static func < (left: Bytes, right: Bytes) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
    }
}
