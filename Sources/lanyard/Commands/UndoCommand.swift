import ArgumentParser
import ControlAPI
import LanyardClient

struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Undo the newest change of this device to objects, by a new change.",
        discussion: """
            Of a put or an edit the fields become what they were; of a transaction those of all its objects. An object that the \
            change created is deleted, after a question. Refused where another device has changed one of the objects since, \
            and for deletions, which are final, and attachments. An undo is a change, too: the next undo does it again.
            """)
    @Flag(name: .customLong("dry-run"), help: "Show what would be undone; write nothing.")
    var isDryRun = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        let change = try await client.undoable(space: global.space)
        guard !isDryRun else { return try show(change, "Would undo") }
        let created = change.objects.filter { $0.action == .delete }.map { "\($0.collection)/\($0.id)" }
        if !created.isEmpty {
            try confirmation.ask("This deletes \(Amounts.some(created)) on every device, for good. Go on?")
        }
        let undone = try await client.undo(change.version, space: global.space)
        try show(undone, "Undone:")
        for object in undone.objects where !object.complete {
            global.note(
                "Something stayed in \(shown(object.collection))/\(shown(object.id)): an add-only set gives nothing back."
            )
        }
    }

    private func show(_ change: UndoResponse, _ verb: String) throws {
        try global.print(change) { style in
            if global.quiet { return "" }
            var text =
                "\(verb) the change of \(TimeText.local.exact(change.time)) (\(TimeText.local.age(change.time)))\n"
            for object in change.objects {
                let name = style.strong("\(shown(object.collection))/\(shown(object.id))")
                switch object.action {
                case .delete: text += "\(name)  \(style.bad("deleted")), since the change created it\n"
                case .edit:
                    text += "\(name)\n" + DifferenceText(style: style).text(object.differences)
                }
            }
            return text
        }
    }
}
