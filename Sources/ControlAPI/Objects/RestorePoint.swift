/// Request of `POST …/restore-point`: the time to which the objects of a space go back.
public struct RestorePointRequest: Codable, Equatable, Sendable {
    /// The time, by the clocks of the devices that wrote.
    public var time: Timestamp
    /// True if objects that were deleted for good are written under new ids; they stay deleted if nil or false.
    public var recreate: Bool?

    /// Both fields.
    public init(time: Timestamp, recreate: Bool? = nil) {
        self.time = time
        self.recreate = recreate
    }
}

/// Answer of `…/restore-point`: what makes the objects of a space what they were at a time.
public struct RestorePointResponse: Codable, Equatable, Sendable {
    /// An object that differs from what it was.
    public struct Object: Codable, Equatable, Sendable {
        /// The write that makes it what it was.
        public enum Action: String, Codable, Sendable {
            /// Its fields become what they were.
            case edit
            /// The object was deleted since: it begins a new life under its id, or under a new one if the deletion is for good.
            case create
            /// The object did not exist: it is deleted.
            case delete
        }

        /// The object's collection.
        public var collection: String
        /// The object's id within the collection.
        public var id: String
        /// The write that makes it what it was.
        public var action: Action
        /// The id under which it was written anew; null if that is its own, or nothing was written yet.
        public var newID: String?

        /// All fields.
        public init(collection: String, id: String, action: Action, newID: String? = nil) {
            self.collection = collection
            self.id = id
            self.action = action
            self.newID = newID
        }
    }

    /// An object that stays as it is, and why.
    public struct Kept: Codable, Equatable, Sendable {
        /// The object's collection.
        public var collection: String
        /// The object's id within the collection.
        public var id: String
        /// The code of the reason: `not_found` where its history does not reach back so far, `object_deleted` where it was deleted
        /// for good, or that of a refused write.
        public var code: String
        /// The reason, as a sentence.
        public var reason: String

        /// All fields.
        public init(collection: String, id: String, code: String, reason: String) {
            self.collection = collection
            self.id = id
            self.code = code
            self.reason = reason
        }
    }

    /// The time.
    public var time: Timestamp
    /// The number of objects that were looked at.
    public var examined: Int
    /// The objects that are written, or were: at most 10,000 of them.
    public var objects: [Object]
    /// The number of all objects that are written, or were.
    public var count: Int
    /// The objects that stay as they are although they may differ: at most 10,000 of them.
    public var kept: [Kept]
    /// The number of all objects that stay so.
    public var keptCount: Int
    /// The number of changes in which the objects were written; null if nothing was to be written.
    public var changes: Int?
    /// True if deletions have been forgotten on this device: objects that were deleted so long ago are not known any more.
    public var deletionsForgotten: Bool

    /// All fields.
    public init(
        time: Timestamp, examined: Int = 0, objects: [Object] = [], count: Int = 0, kept: [Kept] = [],
        keptCount: Int = 0, changes: Int? = nil, deletionsForgotten: Bool = false
    ) {
        self.time = time
        self.examined = examined
        self.objects = objects
        self.count = count
        self.kept = kept
        self.keptCount = keptCount
        self.changes = changes
        self.deletionsForgotten = deletionsForgotten
    }

    /// The objects that an answer names one by one.
    package static let named = 10_000

    /// Adds an object that is written.
    package mutating func add(_ object: Object) {
        count += 1
        if objects.count < Self.named { objects.append(object) }
    }

    /// Adds an object that stays as it is.
    package mutating func keep(_ object: Kept) {
        keptCount += 1
        if kept.count < Self.named { kept.append(object) }
    }
}
