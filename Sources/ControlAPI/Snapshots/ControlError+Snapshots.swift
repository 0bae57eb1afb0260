/// The sentences that snapshots are refused with; each names the next step of the recovery (deploy/GUIDE.md, "An application that starts").
extension ControlError {
    /// The error for a stream without snapshots: none was ever saved, or all were deleted.
    package static func noSnapshot(of stream: String, schema: Int64) -> ControlError {
        ControlError(
            .unknownSnapshot, "There is no snapshot of \"\(stream)\" for schema version \(schema) here.",
            hint: "Wait for the other devices (lanyard wait --connected), or begin from nothing: \(events(stream)).")
    }

    /// The error when all snapshots were saved by other versions of the application, and do not hold all that this one needs.
    ///
    /// - Parameter known: ascending.
    package static func otherSchema(of stream: String, schema: Int64, known: [Int64]) -> ControlError {
        let versions = known.map(String.init).joined(separator: ", ")
        return ControlError(
            .snapshotSchema,
            "The snapshots of \"\(stream)\" are for schema version \(versions); none is for \(schema).",
            hint: "Compute the state from all events, and save it as version \(schema): \(events(stream)).")
    }

    /// The one that was named is for another version.
    package static func schemaDiffers(_ found: Int64, asked: Int64) -> ControlError {
        ControlError(
            .snapshotSchema, "The snapshot is for schema version \(found), and version \(asked) was asked for.",
            hint: "See what there is: lanyard snapshot list")
    }

    /// The error for a snapshot whose vector names histories that this space does not have. Its events would be given once more
    /// under other names.
    package static let snapshotForeign = ControlError(
        .snapshotForeign, "The snapshot is of another space: its events are not those of this one.",
        hint: "It came with an import. Compute the state from all events: lanyard events STREAM --consumer NAME")

    /// The error for a snapshot whose events are still arriving, or whose author claims more than there is.
    package static let snapshotAhead = ControlError(
        .catchingUp, "The snapshot holds events that are not on this device yet.",
        hint:
            "Wait until it is in step (lanyard wait --connected), then restore again; or take another: lanyard snapshot list"
    )

    /// The error for a snapshot that lacks events which are not stored any more.
    package static let snapshotOutdated = ControlError(
        .unknownSnapshot, "Events that the snapshot does not hold were dropped.",
        hint: "Take another (lanyard snapshot list), and save one again where a consumer has read on.")

    /// The file is not the one that was saved.
    package static let snapshotDamaged = ControlError(
        .damaged, "The snapshot is not as it was saved: its file is another one.",
        hint: "Take another (lanyard snapshot list), and delete this one.")

    /// The record is not the one that was saved.
    package static func snapshotChanged(owner: String) -> ControlError {
        ControlError(
            .damaged, "The snapshot in \(owner) is not as it was saved: its record was changed, or its file detached.",
            hint: "Take another (lanyard snapshot list), and delete this one: lanyard delete \(owner)")
    }

    /// A newer version of Lanyard wrote it.
    package static func snapshotNewer(owner: String, format: Int64, known: Int64) -> ControlError {
        ControlError(
            .versionMismatch,
            "The snapshot in \(owner) was saved by a newer Lanyard (format \(format); this one reads \(known)).",
            hint: "Upgrade Lanyard on this device, or take another: lanyard snapshot list")
    }

    /// The error for an id prefix that no snapshot has.
    package static let unknownSnapshot = ControlError(
        .unknownSnapshot, "There is no such snapshot.", hint: "See what there is: lanyard snapshot list")

    /// The named snapshot is of another stream.
    package static func snapshotOfOther(stream: String) -> ControlError {
        ControlError(
            .invalidArgument, "The snapshot is of the stream \"\(stream)\".",
            hint: "See what there is: lanyard snapshot list")
    }

    /// The named one does.
    package static func outrun(of stream: String) -> ControlError {
        ControlError(
            .unknownSnapshot,
            "Events of \"\(stream)\" came late, that stand before the end of this snapshot in canonical order.",
            hint:
                "Take another (lanyard snapshot list), or compute the state from all events: \(events(stream)) --order canonical."
        )
    }

    /// Every one holds a state that an event which came late would undo.
    package static func allOutrun(of stream: String) -> ControlError {
        ControlError(
            .unknownSnapshot,
            "Events of \"\(stream)\" came late, that stand before the end of every snapshot in canonical order.",
            hint: "Compute the state from all events: \(events(stream)) --order canonical.")
    }

    /// A consumer whose application may have either state.
    package static func restoreUnfinished(consumer: String, stream: String) -> ControlError {
        ControlError(
            .restoreUnfinished,
            "A restore of the consumer \"\(consumer)\" was begun and not finished, so it is not known which state it has.",
            hint:
                "Restore again: lanyard snapshot restore \(stream) --consumer \(consumer); or begin from nothing: lanyard consumers set \(consumer) 0 --stream \(stream)"
        )
    }

    /// The restore that is to be finished is not the one that was begun.
    package static let restoreSuperseded = ControlError(
        .restoreUnfinished, "This restore was not begun, or another one was begun since.",
        hint: "Restore again: lanyard snapshot restore STREAM --consumer NAME")

    /// The error for a snapshot of a consumer that does not read the stream: a snapshot holds acknowledged events.
    package static func noSuchReader(_ consumer: String, of stream: String) -> ControlError {
        ControlError(
            .unknownConsumer, "The consumer \"\(consumer)\" never read \"\(stream)\".",
            hint: "A snapshot holds what its consumer has read: lanyard events \(stream) --consumer \(consumer)")
    }

    /// The error for a saved state with events that the consumer has not acknowledged.
    package static let beyondAcknowledged = ControlError(
        .invalidArgument, "The consumer has not acknowledged this position.",
        hint: "Give a position that was acknowledged, or none for all of them: lanyard consumers")

    private static func events(_ stream: String) -> String { "lanyard events \(stream) --consumer NAME" }
}
