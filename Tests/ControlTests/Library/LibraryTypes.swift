import ControlAPI
import Lanyard

/// Types of applications for the tests of the library.
struct Todo: LanyardObject, Equatable {
    enum Priority: String, Codable { case low, high }
    struct Place: Codable, Equatable { var city = ""; var floor: Int? }

    var id = ObjectID()
    var title = ""
    var done = false
    var tags: Set<String> = []
    var steps: [String] = []
    var priority = Priority.low
    var due: Double?
    var place = Place()
    @Counter var opened = 0
    @Text var note = ""
    @Ordered var helpers: [String] = []
    @Local var isShown = false

    var isUrgent: Bool { priority == .high }

    static var collection: String { "todos" }
    static var indexed: [PartialKeyPath<Todo>] { [\.title] }
}

/// What an earlier version of the application had.
struct OldTodo: LanyardObject {
    var id = ObjectID()
    var title = ""

    static var collection: String { "todos" }
}

/// What another application wants of the same collection.
struct OtherTodo: LanyardObject {
    var id = ObjectID()
    @Counter var title = 0

    static var collection: String { "todos" }
}

struct Album: LanyardObject {
    var id = ObjectID()
    @Reference(to: Todo.self) var about: ObjectID? = nil
}

struct Played: LanyardEvent, Equatable {
    var track = ""
    var seconds: Int? = nil
}

/// A server's library connection.
extension LiveServer {
    func library() async throws -> Lanyard { try await Lanyard.connect(socketPath: socketPath) }
}
