import ArgumentParser
import ControlAPI
import LanyardClient

extension Devices {
    struct Review: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a revoked or retired device, or one that may only read, wrote that counts nowhere.",
            discussion: """
                Objects are listed with the number of edits and the time of the newest one by the device's clock. To bring \
                the work on an object back as a change of this device: lanyard devices accept DEVICE COLLECTION/ID.
                Events are only listed: --json shows each with its payload, to be emitted again by hand. With --json it is one \
                page of entries, in the order in which they were written; "next" is the cursor of the next page.
                --where keeps some of these entries, before they are counted. --format and --no-headers print one table of \
                objects, streams and what else there is.
                """)
        @Argument(help: "Its name, its id, or how that begins.", completion: Completions.devices)
        var device: String
        @Option(help: ArgumentHelp("At most so many operations, 1 to 10,000.", valueName: "n"))
        var limit = 1_000
        @Option(help: ArgumentHelp("Begin behind this place, as the page before gave it.", valueName: "cursor"))
        var after: String?
        @OptionGroup var listing: ListingOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard ControlLimits.pageEntries.contains(limit) else {
                throw ValidationError("--limit takes 1 to 10,000.")
            }
        }

        func run() async throws {
            let client = try global.client()
            if global.json {
                var page = try await client.voidWork(of: device, after: after, limit: limit, space: global.space)
                page.entries = try listing.rows(page.entries)
                return try global.print(page) { _ in "" }
            }
            var summary = VoidWorkSummary()
            var (cursor, left) = (after, limit)
            while true {
                var page = try await client.voidWork(of: device, after: cursor, limit: left, space: global.space)
                cursor = page.next
                left -= page.entries.count
                page.entries = try listing.rows(page.entries)
                summary.add(page)
                if cursor == nil || left <= 0 { break }
            }
            if left == limit, after == nil {
                global.note("\(shown(summary.name)) wrote nothing that counts nowhere.")
            }
            try StandardOutput.write(
                listing.columns.isGiven
                    ? try summary.table(global.style, listing.table) : try summary.text(global.style))
            note(summary, cursor)
        }

        private func note(_ summary: VoidWorkSummary, _ cursor: String?) {
            if summary.isDropped {
                global.note("There was more, which the log of this device no longer has.")
            }
            if let cursor {
                global.note("There is more: lanyard devices review \(shown(device)) --after \(shown(cursor))")
            }
            if let object = summary.firstToAccept {
                global.note("To take an object: lanyard devices accept \(shown(device)) \(shown(object))")
            }
            if summary.hasEvents {
                global.note("Events are only listed. To emit one again: lanyard emit; its payload: --json")
            }
        }
    }

    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring back what such a device did to objects, as changes of this device.",
            discussion: """
                Each object becomes what it would be if that work counted, by one change of this device; what others wrote \
                stays. An object that exists in that work only is created, one that was deleted there is deleted. Doing it \
                twice changes nothing more. Only admins may. Events cannot be accepted: emit them again by hand. A retired device \
                that comes back writes its work again itself: text and counters that were accepted are there twice then.
                """)
        @Argument(help: "Its name, its id, or how that begins.", completion: Completions.devices)
        var device: String
        @Argument(
            help: ArgumentHelp("The objects, as `lanyard devices review` lists them.", valueName: "collection/id"),
            completion: Completions.objects)
        var objects: [String]
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            var names: [ObjectName] = []
            for text in objects { names.append(try ObjectName(parsing: text)) }
            let answer = try await global.client().accept(names, of: device, space: global.space)
            try global.print(answer) { style in
                global.quiet ? "" : answer.objects.map { Self.line($0, style) }.joined()
            }
            try Self.check(answer)
        }

        private static func line(_ object: AcceptanceResponse.Object, _ style: Style) -> String {
            let name = style.strong("\(shown(object.collection))/\(shown(object.id))")
            let fields = object.fields.isEmpty ? "" : ": \(Amounts.some(object.fields))"
            let files = object.attachments > 0 ? ", \(Amounts.count(object.attachments, "attachment"))" : ""
            return switch object.action {
            case "created": "\(name)  \(style.good("created"))\(fields)\(files)\n"
            case "edited": "\(name)  \(style.careful("edited"))\(fields)\(files)\n"
            case "deleted": "\(name)  \(style.bad("deleted"))\n"
            default: "\(name)  stays: \(shown(object.reason ?? ""))\n"
            }
        }

        /// Throws if work was not taken; what had been taken before is no error.
        private static func check(_ answer: AcceptanceResponse) throws {
            let left = answer.objects.filter { $0.code.map { $0 != ErrorCode.alreadyExists.rawValue } ?? false }
            guard let first = left.first else { return }
            if answer.objects.count == 1 {
                throw ControlError(
                    first.code.flatMap { ErrorCode(rawValue: $0) } ?? .objectIncomplete, first.reason ?? "It stays.",
                    hint: "See what there is: lanyard devices review \(answer.device.prefix(7))")
            }
            throw ControlError(
                .objectIncomplete, "\(Amounts.count(left.count, "object")) stayed as before.",
                hint: "The lines above say why. See what there is: lanyard devices review \(answer.device.prefix(7))")
        }
    }
}
