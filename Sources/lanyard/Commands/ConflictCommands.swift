import ArgumentParser
import ControlAPI
import LanyardClient

struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the conflicts that need a decision, and decide them.", subcommands: [List.self, Resolve.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show conflicts, and how to resolve each.", aliases: ["ls"])
        @Argument(help: "Only of this collection.", completion: Completions.collections)
        var collection: String?
        @Flag(help: "Go on, and show every change.")
        var watch = false
        @OptionGroup var listing: ListingOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            if let collection { try NameRule.check(collection, is: .collection) }
            let client = try global.client()
            let names = await DeviceNames(client, space: global.space)
            guard watch else {
                let conflicts = try await client.conflicts(in: collection, space: global.space)
                try show(conflicts, names)
                if conflicts.isEmpty { global.note("No conflicts.") }
                return
            }
            let redraws = StandardOutput.isTerminal && !global.json
            try await client.watchConflicts(in: collection, space: global.space) { conflicts in
                if redraws { try StandardOutput.clear() }
                try show(conflicts, names)
            }
        }

        private func show(_ all: [ConflictEntry], _ names: DeviceNames) throws {
            let conflicts = try listing.rows(all)
            try global.print(conflicts) {
                try ConflictTable(conflicts: conflicts, names: names, space: global.space, style: $0)
                    .text(isQuiet: global.quiet || listing.columns.isGiven, listing.table)
            }
        }
    }

    struct Resolve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Decide a conflict, for every device; or take it off this device's list.",
            usage: "lanyard conflicts resolve COLLECTION/ID keep|delete|dismiss|FIELD=VALUE [OPTIONS]",
            discussion: """
                keep: an object that is undecided stays. delete: it goes. FIELD=VALUE: the field has this value instead of all \
                those that are listed. These three are written, and hold on every device.
                dismiss: there is nothing to do. It is not listed on this device any more; other devices still list it.
                """)
        @Argument(help: ArgumentHelp("The object.", valueName: "collection/id"), completion: Completions.objects)
        var object: String
        @Argument(help: ArgumentHelp("What to do.", valueName: "decision"))
        var decision: String
        @Flag(name: .customLong("string"), help: "Take VALUE as text even if it is JSON.")
        var asText = false
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let name = try ObjectName(parsing: object)
            let resolution = try Resolution(parsing: decision, valueAsText: asText)
            let client = try global.client()
            if resolution == .delete {
                try confirmation.ask("Delete \(shown(object)) on every device?")
            }
            guard try await client.resolve(name, resolution, space: global.space) else {
                throw ControlError(
                    .notFound, Self.nothing(to: resolution, in: object), hint: "See: lanyard conflicts list")
            }
            try global.print(ResolveResponse(resolved: true)) { _ in
                global.quiet ? "" : "\(shown(object)) resolved.\n"
            }
        }

        private static func nothing(to resolution: Resolution, in object: String) -> String {
            switch resolution {
            case .keep, .delete: "\(object) is not waiting for a decision."
            case .dismiss: "\(object) has no conflict that can be dismissed."
            case .set(let field, _): "\(object) has no conflict in \"\(field)\"."
            }
        }
    }
}
