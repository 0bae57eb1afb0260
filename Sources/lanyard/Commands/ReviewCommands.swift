import ArgumentParser
import ControlAPI
import LanyardClient

extension Devices {
    struct Review: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a revoked or retired device, or one that may only read, wrote that counts nowhere.",
            discussion: """
                Objects are listed with the number of edits and the time of the newest one by the device's clock. To bring \
                work back as changes of this device: lanyard devices accept DEVICE COLLECTION/ID; --events, --schema and \
                --setting bring back the events of a stream, a schema, and the setting of a stream.
                With --json it is one page of entries, in the order in which they were written, events with their payload; \
                "next" is the cursor of the next page.
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
            if let stream = summary.firstStreamToAccept {
                global.note(
                    "To emit the events of a stream again: lanyard devices accept \(shown(device)) --events \(shown(stream)). "
                        + "Their payload: --json")
            }
        }
    }

    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring back what such a device did, as changes of this device.",
            discussion: """
                Each object becomes what it would be if that work counted, by one change of this device; what others wrote \
                stays. An object that exists in that work only is created, one that was deleted there is deleted. With --events \
                the events of a stream are emitted again in their order, with --schema a schema is set as the device set it, with \
                --setting a stream. Doing it twice changes nothing more. Only admins may; two of them that do it at the same time, \
                apart, emit the events twice. Who was let in or revoked there is done again by hand. A retired device that comes \
                back writes its work again itself, and what a revoked one wrote counts again if the recovery key admits it: text, \
                counters and events that were accepted are there twice then.
                """)
        @Argument(help: "Its name, its id, or how that begins.", completion: Completions.devices)
        var device: String
        @Argument(
            help: ArgumentHelp("The objects, as `lanyard devices review` lists them.", valueName: "collection/id"),
            completion: Completions.objects)
        var objects: [String] = []
        @Option(
            name: .customLong("events"),
            help: ArgumentHelp("Emit the events of this stream again.", valueName: "stream"),
            completion: Completions.streams)
        var events: [String] = []
        @Option(
            name: .customLong("schema"),
            help: ArgumentHelp("Set the schema of this collection.", valueName: "collection"),
            completion: Completions.collections)
        var schemas: [String] = []
        @Option(
            name: .customLong("setting"), help: ArgumentHelp("Set this stream.", valueName: "stream"),
            completion: Completions.streams)
        var settings: [String] = []
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if objects.isEmpty, events.isEmpty, schemas.isEmpty, settings.isEmpty {
                throw ValidationError("Name an object (collection/id), or use --events, --schema or --setting.")
            }
        }

        func run() async throws {
            var names: [ObjectName] = []
            for text in objects { names.append(try ObjectName(parsing: text)) }
            let answer = try await global.client().accept(
                names, events: events, schemas: schemas, streams: settings, of: device, space: global.space)
            try global.print(answer) { style in
                global.quiet
                    ? ""
                    : (answer.objects.map { Self.line($0, style) } + answer.others.map { Self.line($0, style) })
                        .joined()
            }
            try Self.check(answer)
        }

        private static func line(_ other: AcceptanceResponse.Other, _ style: Style) -> String {
            let name = style.strong(shown(other.name))
            if other.code != nil { return "\(name)  stays: \(shown(other.reason ?? ""))\n" }
            return switch other.kind {
            case "event": "\(name)  \(style.good(Amounts.count(other.count, "event") + " emitted"))\n"
            case "schema": "\(name)  \(style.careful("schema set"))\n"
            default: "\(name)  \(style.careful("stream set"))\n"
            }
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
            let all = answer.objects.map { ($0.code, $0.reason) } + answer.others.map { ($0.code, $0.reason) }
            let left = all.filter { code, _ in code.map { $0 != ErrorCode.alreadyExists.rawValue } ?? false }
            guard let (code, reason) = left.first else { return }
            if all.count == 1 {
                throw ControlError(
                    code.flatMap { ErrorCode(rawValue: $0) } ?? .objectIncomplete, reason ?? "It stays.",
                    hint: "See what there is: lanyard devices review \(answer.device.prefix(7))")
            }
            throw ControlError(
                .objectIncomplete, "\(left.count) of \(all.count) stayed as before.",
                hint: "The lines above say why. See what there is: lanyard devices review \(answer.device.prefix(7))")
        }
    }
}
