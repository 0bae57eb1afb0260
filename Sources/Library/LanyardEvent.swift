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

    /// The type of the events that are read, so that several structs can share a stream; by default nil, for all events.
    static var type: String? { get }

    /// The type that this event is written with; by default that of the struct.
    ///
    /// A stream that is `latestOnly` shows one event of each type. A computed property such as `var eventType: String? { lamp }`
    /// makes it one event of each lamp.
    var eventType: String? { get }
}

extension LanyardEvent {
    /// The name of the type with a small first letter.
    public static var stream: String {
        let name = String(describing: Self.self)
        return name.prefix(1).lowercased() + name.dropFirst()
    }

    /// No type.
    public static var type: String? { nil }

    /// The type of the struct.
    public var eventType: String? { Self.type }
}
