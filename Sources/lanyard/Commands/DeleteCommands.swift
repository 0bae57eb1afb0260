import ArgumentParser
import ControlAPI
import LanyardClient

struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete an object, on every device and for good.",
        discussion: """
            What becomes of edits that others make meanwhile is for the collection's deletePolicy to say (lanyard schema). \
            Its attachments go with it. There is no undelete; create a new object instead. Deleting what is not there is fine and writes nothing.
            """, aliases: ["rm"])
    @Argument(help: ArgumentHelp("The object.", valueName: "collection/id"), completion: Completions.objects)
    var object: String
    @Option(help: ArgumentHelp("Only if the object has this version.", valueName: "version"))
    var ifVersion: String?
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let name = try ObjectName(parsing: object)
        let version = try ifVersion.map { text throws(ControlError) in try DotText(parsing: text) }
        let client = try global.client()
        try confirmation.ask("Delete \(shown(object)) on every device?")
        let deleted = try await client.delete(name, ifVersion: version, space: global.space)
        try global.print(DeletedResponse(deleted: deleted)) { _ in
            if global.quiet { return "" }
            return deleted ? "\(shown(object)) deleted.\n" : "\(shown(object)) is not there; nothing was written.\n"
        }
    }
}

struct Deleted: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what was deleted, as long as the record of it is kept.")
    @Argument(help: "Only of this collection.", completion: Completions.collections)
    var collection: String?
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if let collection { try NameRule.check(collection, is: .collection) }
        let client = try global.client()
        if global.json {
            var array = JSONArrayOutput()
            try await client.listDeletedObjects(of: collection, space: global.space) {
                try array.add(try listing.rows($0))
            }
            try array.end()
            return
        }
        let names = await DeviceNames(client, space: global.space)
        var table = Table("COLLECTION", "ID", "BY", "DELETED", "POLICY", leastImportant: ["POLICY", "DELETED"])
        var isEmpty = true
        try await client.listDeletedObjects(of: collection, space: global.space) { entries in
            isEmpty = false
            for entry in try listing.rows(entries) {
                table.add(
                    Table.Cell(entry.collection), Table.Cell(entry.id), Table.Cell(names[entry.device]),
                    Table.Cell(TimeText.local.age(entry.time)), Table.Cell(entry.policy.rawValue))
            }
        }
        guard !isEmpty else { return global.note("Nothing on record.") }
        try StandardOutput.write(try table.text(global.style, listing.table))
    }
}
