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

    /// A property that can be set, and reads a wrapped one of another type.
    var isPopular: Bool {
        get { opened > 10 }
        set { opened = newValue ? 11 : 0 }
    }

    var firstHelper: String { helpers[0] }

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

/// Nested values of each kind.
struct Project: LanyardObject, Equatable {
    enum State: Codable, Equatable {
        case open
        case done(by: String)
        case closed(why: String)
    }
    struct Step: Codable, Equatable { var text = "" }
    struct Plan: Codable, Equatable { var begun = State.open, budget = 0 }

    var id = ObjectID()
    var state = State.open
    var plan = Plan()
    var steps: [Step] = []
    var votes: [ObjectID: Int] = [:]
    var sizes: Set<Double> = []
    @Counter var stock: UInt = 0
}

/// What a newer version of the application has in the steps of a project.
struct LaterProject: LanyardObject {
    struct Step: Codable, Equatable { var text = "", who: String? }

    var id = ObjectID()
    var steps: [Step] = []

    static var collection: String { "project" }
}

struct EarlyStock: LanyardObject {
    var id = ObjectID()
    @Counter var stock = 10
}

struct NestedCounter: LanyardObject {
    struct Statistics: Codable { @Counter var plays = 0 }

    var id = ObjectID()
    var statistics = Statistics()
}

struct OddKeys: LanyardObject {
    struct Key: Codable, Hashable { var number = 0 }

    var id = ObjectID()
    var values: [Key: Int] = [:]
}

struct Skipped: LanyardEvent {
    var track = ""

    static var stream: String { "plays" }
    static var type: String? { "skipped" }
}

struct Finished: LanyardEvent {
    var seconds = 0

    static var stream: String { "plays" }
    static var type: String? { "finished" }
}
