/// The blobs that should be here, by policy or pin, and are not whole.
package struct MissingFigures: Sendable, Hashable {
    package var count = 0
    /// Their sizes once whole.
    package var bytes: Int64 = 0

    package init() {}
}
