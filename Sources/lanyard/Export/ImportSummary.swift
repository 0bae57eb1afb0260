import ControlAPI

/// The result of an import, as JSON.
final class ImportSummary: Encodable {
    struct Refused: Encodable {
        /// An object, or the schema of a collection.
        let name: String
        let code: String
        let message: String
    }

    /// False where it was stopped by an error; then this is what was done before.
    var complete = true
    var newObjects = 0
    var replacedObjects = 0
    /// The number of objects that were here already as they are in the file.
    var sameObjects = 0
    /// The objects that are here with other content, and were left so.
    var keptObjects: [String] = []
    /// The objects that were deleted here, and stay so.
    var deletedObjects: [String] = []
    var events = 0
    /// The number of events that were here before.
    var knownEvents = 0
    /// The number of events of this space's devices that have not come here yet.
    var expectedEvents = 0
    var attachments = 0
    var knownAttachments = 0
    /// Names of those whose bytes are not in the file.
    var missingAttachments: [String] = []
    var schemas = 0
    /// Collections whose schema is another one here, and was left so.
    var keptSchemas: [String] = []
    /// Streams whose settings are others here, and were left so.
    var keptStreams: [String] = []
    /// Objects and schemas that cannot be written here.
    var refused: [Refused] = []

    func refuse(_ name: String, _ error: ControlError) {
        refused.append(Refused(name: name, code: error.code.rawValue, message: error.message))
    }

    var isStarted: Bool { newObjects + replacedObjects + events + attachments + schemas > 0 }

    // MARK: For people

    var text: String {
        var lines = [
            Self.line("schema", (schemas, "set"), (keptSchemas.count, "different here")),
            Self.line(
                "object", (newObjects, "new"), (replacedObjects, "replaced"), (sameObjects, "unchanged"),
                (keptObjects.count, "different here"), (deletedObjects.count, "deleted here")),
            Self.line(
                "event", (events, "written"), (knownEvents, "here before"), (expectedEvents, "left to their devices")),
            Self.line(
                "attachment", (attachments, "attached"), (knownAttachments, "here before"),
                (missingAttachments.count, "without bytes")),
        ]
        if !keptObjects.isEmpty {
            lines.append(
                "Different here, and left so: \(Amounts.some(keptObjects)). To make them as in the file: --replace")
        }
        if !keptSchemas.isEmpty {
            lines.append(
                "Schemas that are different here, and were left so: \(Amounts.some(keptSchemas)). "
                    + "To make them as in the file: --replace")
        }
        if !keptStreams.isEmpty {
            lines.append(
                "Streams whose settings are different here, and were left so: \(Amounts.some(keptStreams)). "
                    + "To make them as in the file: --replace")
        }
        if !deletedObjects.isEmpty {
            lines.append("Deleted here, and left so: \(Amounts.some(deletedObjects)).")
        }
        if expectedEvents > 0 {
            lines.append(
                "\(Amounts.count(expectedEvents, "event")) of this space's own devices have not come here yet; they come from "
                    + "those devices. If no device has them any more: --lost-events")
        }
        if !missingAttachments.isEmpty {
            lines.append("The export does not hold the bytes of: \(Amounts.some(missingAttachments)).")
        }
        return lines.compactMap { $0.map { $0 + "\n" } }.joined()
    }

    /// `3 objects new, 5 unchanged`; nil where there is nothing to say.
    private static func line(_ noun: String, _ parts: (Int, String)...) -> String? {
        let counted = parts.filter { $0.0 > 0 }
        guard let first = counted.first else { return nil }
        let rest = counted.dropFirst().map { ", \($0.0) \($0.1)" }
        return "\(Amounts.count(first.0, noun)) \(first.1)" + rest.joined()
    }

    /// The error that not all of the import could be written; nil if it could.
    var error: ControlError? {
        guard let first = refused.first else { return nil }
        return ControlError(
            ErrorCode(rawValue: first.code) ?? .forbidden,
            "\(refused.count == 1 ? "One thing" : "\(refused.count) things") could not be written here; the first is "
                + "\(shown(first.name)): \(first.message)",
            hint: "All else was imported. See all with --json.")
    }
}
