import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// Texts that several people type into: followed edit by edit, and edited against the version that was seen.
struct TextRoutes: Sendable {
    private let agent: Agent
    private let rooms: TextRooms

    init(agent: Agent) {
        self.agent = agent
        rooms = TextRooms(agent)
    }

    private static let text = ObjectRoutes.object + "/text"
    private static let steps = 1...1_000

    var routes: [Route] {
        [
            Route(.get, Self.text, query: ["field", "unit"]) { [agent, rooms] request throws(ControlError) in
                try agent.checkSpace(try request.name(.space))
                let (name, path) = (try request.objectName(), try request.textField())
                let unit = try request.textUnit()
                let use = rooms.room(name, path)
                let begun = try await use.room.whole()
                if request.format == .page { return .json(begun.line) }
                let reading = TextReading(use: use, unit: unit, begun: begun)
                return request.stream(request.format) { try await reading.write(to: &$0) }
            },
            Route(.post, Self.text, query: ["field"]) { [agent, rooms] request throws(ControlError) in
                try agent.checkSpace(try request.name(.space))
                let (name, path) = (try request.objectName(), try request.textField())
                let edits = try await request.body(TextEdits.self)
                guard Self.steps.contains(edits.edits.count) else {
                    throw ControlError(
                        .tooLarge, "An edit of a text has \(Self.steps.lowerBound) to \(Self.steps.upperBound) steps.",
                        hint: "Send several edits, each against the version of the one before.")
                }
                let key = try request.key()?.text
                // Until the answer: another room of the text would say of an edit that it is not applied, and this one apply it.
                let use = rooms.room(name, path)
                defer { withExtendedLifetime(use) {} }
                let version = try await request.once { () throws(ControlError) in
                    try await use.room.apply(edits, key: key)
                }
                return .json(TextVersion(version: version))
            },
        ]
    }
}

extension ControlRequest {
    fileprivate func textField() throws(ControlError) -> FieldPath {
        guard let text = query["field"] else {
            throw ControlError(
                .invalidArgument, "The request names no field.",
                hint: "Add ?field=NAME, the field that holds the text.")
        }
        return try FieldPath(parsing: text)
    }

    fileprivate func textUnit() throws(ControlError) -> TextUnit {
        guard let text = query["unit"] else { return .scalars }
        guard let unit = TextUnit(rawValue: text) else {
            let units = TextUnit.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(
                .invalidArgument, "\"unit\" must be one of \(units).",
                hint: "utf16 is what JavaScript counts in, scalars what Python does.")
        }
        return unit
    }
}
