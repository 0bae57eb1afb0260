/// A struct whose values are appended to a stream of events that every device has.
///
/// ```swift
/// struct Played: LanyardEvent { var track = ""; var seconds = 0 }
/// try await home.emit(Played(track: "t7", seconds: 180))
/// for try await played in home.events(of: Played.self, consumer: "statistics") { count(played.value) }
/// ```
public protocol LanyardEvent: Codable, Sendable {
    /// The stream, 1 to 128 bytes; by default the name of the type with a small first letter.
    static var stream: String { get }

    /// The type of the event, so that several structs can share a stream; by default nil, and then all events are read.
    static var type: String? { get }
}

extension LanyardEvent {
    /// The name of the type with a small first letter.
    public static var stream: String {
        let name = String(describing: Self.self)
        return name.prefix(1).lowercased() + name.dropFirst()
    }

    /// No type.
    public static var type: String? { nil }
}
