/// A line in a stream that is read in canonical order: an event arrived that belongs before what was read.
///
/// Everything behind `position` is undone; the lines that follow begin behind it, with the event that came late. The texts of
/// canonical positions have the order of the events, so a reader that keeps earlier states finds the one to go back to.
public struct RewindLine: Codable, Equatable, Sendable {
    /// The mark that tells it from an event; always true.
    public var rewind: Bool
    /// The stream that is read.
    public var stream: String
    /// Events up to here stand; it may be acknowledged as that of an event.
    public var position: EventPosition

    /// A rewind to behind `position`.
    public init(stream: String, position: EventPosition) {
        rewind = true
        self.stream = stream
        self.position = position
    }

    /// The first bytes of an agent's line of this kind; no event begins so.
    package static let prefix = Array("{\"rewind\":".utf8)
}
