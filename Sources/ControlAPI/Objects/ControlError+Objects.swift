/// The sentences an agent refuses with where objects are concerned, so that they read the same wherever they are said.
extension ControlError {
    /// The error for an object of which nothing is known here.
    package static let noObject = ControlError(
        .notFound, "There is no such object.", hint: "See what there is: lanyard list COLLECTION")

    /// The error for an object that is not shown without the work of a device that was retired or revoked.
    package static func workCountsNowhere(_ author: String, _ word: String) -> ControlError {
        ControlError(
            .notFound, "There is no such object: what \(author) wrote to it counts nowhere.",
            hint: "See it, and why: lanyard devices review \(word)")
    }

    /// The error for an object that was deleted: reading it fails, writing it anew may be possible.
    package static let objectGone = ControlError(
        .notFound, "There is no such object: it was deleted.",
        hint: "See when: lanyard deleted COLLECTION. What it held: lanyard history COLLECTION/ID")

    /// A write to an id whose deletion is still on record, under `deleteWins`.
    package static let objectDeleted = ControlError(
        .objectDeleted, "The object was deleted; nothing can be written to it any more.",
        hint:
            "Create a new one: lanyard put COLLECTION JSON. What the old one held: lanyard history COLLECTION/ID")

    /// The schema says `"upsert":false`.
    package static let createsOnlyIfAbsent = ControlError(
        .notFound, "There is no such object, and this collection's objects are created on purpose only.",
        hint: "To create it, say so: lanyard put --if-absent COLLECTION/ID JSON")

    /// `edit` without `create`.
    package static let nothingToEdit = ControlError(
        .notFound, "There is no such object to edit.", hint: "Check the id, or let edit create it with --create.")

    /// The error for an object that exists though the condition was that it does not.
    package static func alreadyExists(_ version: DotText?) -> ControlError {
        ControlError(
            .alreadyExists, "There is such an object already.",
            hint: "Leave out --if-absent to change it, or take another id.", version: version)
    }

    /// `current` nil: there is no object.
    package static func versionMismatch(current: DotText?) -> ControlError {
        guard let current else {
            return ControlError(
                .versionMismatch, "There is no such object, so it does not have that version.",
                hint: "Leave out --if-version to create it.")
        }
        return ControlError(
            .versionMismatch, "The object has changed: its version is \(current) now.",
            hint: "Read it again (lanyard get COLLECTION/ID), and try with that version.", version: current)
    }

    /// The error for an object that is hidden until its conflict is resolved.
    package static let undecided = ControlError(
        .undecided, "The object was deleted on one device and edited on another; a person has to decide.",
        hint: "See: lanyard conflicts list. Then: lanyard conflicts resolve COLLECTION/ID keep (or delete)")

    /// A write to something that is still arriving, or by a device whose membership is.
    package static let catchingUp = ControlError(
        .catchingUp, "This object is still arriving from another device; it can be read, not yet written.",
        hint: "Try again in a moment: lanyard wait --connected")

    /// A write to an object on which work of this device waits to be written again.
    package static let writingAgain = ControlError(
        .writingAgain,
        "What this device wrote to the object while it was away shows here alone until it is written again; the object can be "
            + "read, not yet written.",
        hint: "See what that waits for: lanyard status")

    /// The error for the history of an object of which nothing counts yet.
    package static let historyLater = ControlError(
        .notFound, "The history of the object begins when what this device wrote to it is written again.",
        hint: "See what that waits for: lanyard status")

    /// The error for an object whose state cannot be served.
    package static let objectIncomplete = ControlError(
        .objectIncomplete, "The object is incomplete on this device: a part of it could not be applied.",
        hint: "See why: lanyard why COLLECTION/ID")

    /// A value or an operation does not fit the type of `field`.
    package static func typeMismatch(_ field: String, is type: String) -> ControlError {
        ControlError(
            .typeMismatch, "The field \"\(field)\" is a \(type), and that does not fit it.",
            hint: "See the types: lanyard schema show COLLECTION")
    }

    /// `count` elements or scalars are there.
    package static func indexOutOfRange(_ field: String, count: Int) -> ControlError {
        ControlError(
            .indexOutOfRange, "The place is outside of \"\(field)\", which holds \(count).",
            hint: count == 0 ? "Insert at 0 first." : "Places are counted from 0.")
    }

    /// The error for an `offset` inside one visible character, which goes from `start` to `end`.
    package static func insideCharacter(_ field: String, offset: Int, start: Int, end: Int) -> ControlError {
        ControlError(
            .insideCharacter,
            "The place \(offset) is inside of a character of \"\(field)\", which goes from \(start) to \(end).",
            hint: "Take \(start) or \(end); to cut the character on purpose: lanyard edit --split-characters")
    }

    /// A constant that has a value.
    package static func constantField(_ field: String) -> ControlError {
        ControlError(
            .constantField, "The field \"\(field)\" is a constant: it was set when the object was created.",
            hint: "Leave it out, or create a new object.")
    }

    /// A field that never was.
    package static func unknownField(_ field: String) -> ControlError {
        ControlError(
            .unknownField, "The object has no field \"\(field)\".", hint: "See its fields: lanyard get COLLECTION/ID")
    }

    /// The error for a version that is not one of this object, or not known here.
    package static let noVersion = ControlError(
        .notFound, "The object has no such version here.", hint: "See its versions: lanyard history COLLECTION/ID")

    /// The error for a version whose operations were dropped from the log here, or came as state.
    package static let versionNotKept = ControlError(
        .notFound, "What the object was at that version is not kept here any more.",
        hint: "See from where on it is: lanyard history COLLECTION/ID")

    /// The error for an object that was deleted or hidden at that version.
    package static let notThen = ControlError(
        .notFound, "The object was not there at that version.",
        hint: "See what became of it: lanyard history COLLECTION/ID")

    /// The error for a collection in which no object was ever put.
    package static let unknownCollection = ControlError(
        .unknownCollection, "There is no such collection here.",
        hint: "It begins with its first object: lanyard put COLLECTION JSON")

    /// The error for a collection without a schema.
    package static let noSchema = ControlError(
        .unknownCollection, "The collection has no schema; its fields take what is put.",
        hint: "Set one: lanyard schema set COLLECTION FILE")

    /// A schema under which values that are here could not be read any more.
    package static func schemaWouldLoseData(_ field: String, is type: String) -> ControlError {
        ControlError(
            .schemaWouldLoseData,
            "The field \"\(field)\" is a \(type), and its values would not be shown any more under another type.",
            hint: "Let them be converted (lanyard schema set asks), or give the values a new field.")
    }

    /// A write that is asked for again, whose object is gone since.
    package static let notShownAnyMore = ControlError(
        .objectDeleted, "This was written before, and the object was deleted since.",
        hint: "See what became of it: lanyard history COLLECTION/ID")

    /// The error for another request under the same key within a day.
    package static let idempotencyMismatch = ControlError(
        .idempotencyMismatch, "Another write was done under this idempotency key; this one was not done.",
        hint: "Use a fresh key for every write, and the same one only to send the same request again.")

    /// A field that cannot go on in another type, because of one object.
    package static func cannotConvert(_ object: String, _ field: String, to type: String) -> ControlError {
        ControlError(
            .schemaWouldLoseData, "The field \"\(field)\" of \(object) holds something that is no \(type).",
            hint: "Change it first: lanyard get \(object). Or give the values a new field with the type you want.")
    }

    /// An object was named as a place in a sorted list, and is not listed now.
    package static let goneFromList = ControlError(
        .invalidArgument, "The object behind which the list is to go on is not in it any more.",
        hint: "Begin again without \"after\".")

    /// A cursor that was not handed out.
    package static let badCursor = ControlError(
        .invalidArgument, "This is no place in the list.", hint: "Begin again without \"after\".")
}
