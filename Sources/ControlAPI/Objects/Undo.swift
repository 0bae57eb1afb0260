/// Request of `POST …/undo`: the change that is meant, as `GET …/undo` names it.
public struct UndoRequest: Codable, Equatable, Sendable {
    /// The version of the change; another newest change of this device is not undone.
    public var version: DotText

    /// The one field.
    public init(version: DotText) { self.version = version }
}

/// Answer of `…/undo`: the newest change of this device, and what undoing it does to each object.
public struct UndoResponse: Codable, Hashable, Sendable {
    /// An object that the change wrote to.
    public struct Object: Codable, Hashable, Sendable {
        /// The effect of undoing.
        public enum Action: String, Codable, Sendable {
            /// The fields become what they were.
            case edit
            /// The change created the object: it is deleted.
            case delete
        }

        /// The object's collection.
        public var collection: String
        /// The object's id within the collection.
        public var id: String
        /// The effect of undoing.
        public var action: Action
        /// The differences of the fields: from what they are to what they become.
        public var differences: [DifferenceEntry]
        /// False if something stayed that only grows: an element of an add-only set.
        public var complete: Bool

        /// All fields.
        public init(
            collection: String, id: String, action: Action, differences: [DifferenceEntry], complete: Bool = true
        ) {
            self.collection = collection
            self.id = id
            self.action = action
            self.differences = differences
            self.complete = complete
        }
    }

    /// The version of the change: the last dot that it wrote.
    public var version: DotText
    /// The time of the change, by this device's clock.
    public var time: Timestamp
    /// The objects that it wrote to.
    public var objects: [Object]

    /// All fields.
    public init(version: DotText, time: Timestamp, objects: [Object]) {
        self.version = version
        self.time = time
        self.objects = objects
    }
}

extension ControlError {
    /// The error where nothing of this device's own is found to undo.
    package static let nothingToUndo = ControlError(
        .notFound, "There is no change of this device to undo.",
        hint: "Only changes to objects are undone, and only the newest; older ones: lanyard history COLLECTION/ID")

    /// The error where another device has written behind the change.
    package static func editedSince(_ name: String, by device: String, at time: String) -> ControlError {
        ControlError(
            .versionMismatch, "\(device) has changed \(name) \(time), after this device did; nothing was undone.",
            hint: "See who changed what: lanyard history \(name)")
    }

    /// The error for a change that is none of fields.
    package static func notUndone(_ name: String, _ what: String, hint: String) -> ControlError {
        ControlError(.forbidden, "The newest change of this device \(what) \(name); that is not undone.", hint: hint)
    }
}
