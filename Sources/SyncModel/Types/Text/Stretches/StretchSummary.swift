/// What is known of a stretch of a text from its scalars alone, whatever stands before it or behind.
///
/// Associative: of three stretches in a row, the summary of all is the same whichever two are put together first, and
/// `init()` put before or behind one changes nothing.
package protocol StretchSummary: Sendable {
    /// A stretch with more scalars is cut, one with less than a quarter of them joined with a neighbour: asking after an
    /// edit reads about half of them again.
    static var mostScalars: Int { get }

    /// Whether a stretch may end between any two scalars; then `mayPart` is not asked.
    static var partsAnywhere: Bool { get }

    /// Whether a stretch may end between these two, whatever stands before them.
    static func mayPart(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool

    /// Of no scalars.
    init()

    /// Of the scalars of `string`, which are `count`.
    init(_ string: String, count: Int)

    /// Goes on with the stretch behind this one.
    mutating func append(_ next: Self)
}
