/// A summary of a stretch of a text, derived from its scalars alone, whatever stands before it or behind.
///
/// It is associative: of three stretches in a row, the summary of all is the same whichever two are joined first. `init()`
/// joined before or behind one changes nothing.
package protocol StretchSummary: Sendable {
    /// A stretch with more scalars is cut, one with less than a quarter of them joined with a neighbour: asking after an
    /// edit reads about half of them again.
    static var mostScalars: Int { get }

    /// True if a stretch may end between any two scalars; then `mayPart` is not called.
    static var partsAnywhere: Bool { get }

    /// Returns true if a stretch may end between these two, whatever stands before them.
    static func mayPart(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool

    /// Creates the summary of no scalars.
    init()

    /// Creates the summary of the scalars of `string`; there are `count`.
    init(_ string: String, count: Int)

    /// Appends the summary of the stretch behind this one.
    mutating func append(_ next: Self)
}
