import ArgumentParser
import ControlAPI
import LanyardClient

extension Devices {
    struct Log: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show which device let in, retired, revoked or blocked which, when, and since when that is known here.",
            discussion: """
                WHEN is by the clock of the device that did it, KNOWN HERE by the clock of this one; a dash stands where a \
                time is unknown. The oldest line is the one that this device learned of first.
                """)
        @OptionGroup var listing: ListingOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let client = try global.client()
            if global.json {
                var array = JSONArrayOutput()
                try await client.readDeviceLog(space: global.space) { try array.add(try listing.rows($0)) }
                try array.end()
                return
            }
            var table = Table(
                "WHEN", "WHO", "DID", "WHOM", "ID", "ROLE", "KNOWN HERE", "IN EFFECT",
                leastImportant: ["ROLE", "KNOWN HERE", "ID"])
            var isEmpty = true
            try await client.readDeviceLog(space: global.space) { entries in
                isEmpty = false
                for entry in try listing.rows(entries) {
                    table.add(
                        Table.Cell(Self.time(entry.at)), Table.Cell(entry.authorName ?? Self.shortID(entry.author)),
                        Table.Cell(Self.deed(entry)),
                        Table.Cell(entry.deviceName ?? Self.shortID(entry.device)),
                        Table.Cell(Self.shortID(entry.device)), Table.Cell(entry.role?.rawValue),
                        Table.Cell(Self.time(entry.knownSince)), Table.Cell(Self.effect(entry)))
                }
            }
            guard !isEmpty else { return global.note("No device was let in or let go.") }
            try StandardOutput.write(try table.text(global.style, listing.table))
        }

        private static func time(_ time: Timestamp?) -> String? { time.map { TimeText.local.exact($0) } }

        private static func shortID(_ id: String) -> String { String(id.prefix(7)) }

        /// An action of a later version is shown as it is.
        static func deed(_ entry: TrustEntry) -> String {
            words(entry.action) + (entry.byRecoveryKey == true ? ", by the recovery key" : "")
        }

        private static func words(_ action: String) -> String {
            switch action {
            case "admitted": "let in"
            case "returned": "let back in"
            case "joined": "joined through"
            case "roleGiven": "changed the role"
            case "readmitted": "admitted again"
            case "recoveryKeyMade": "made the recovery key"
            case "blocked": "blocked here"
            case "unblocked": "unblocked here"
            case let other: other
            }
        }

        static func effect(_ entry: TrustEntry) -> String {
            if entry.inEffect { return "yes" }
            switch entry.reason {
            case "waiting": return "no: the device that did it is no member here yet"
            case "notBound": return "no: the device did not sign its key"
            case "ofItself": return "no: a device cannot let itself in"
            case "beyondEnd": return "no: written after its author was retired"
            case "retired": return "no: retired"
            case "revoked": return "no: revoked"
            case "otherRole": return "no: another role holds"
            case "returned": return "no: it came back"
            case "overruled": return "no: its author was retired itself"
            case "noEffect": return "no: an old version wrote it, without effect"
            case "notAllowed": return "no: the device that did it was no admin, or the recovery key decided otherwise"
            case "takenBack": return "no: taken back with its author's history"
            case "undone": return "no: decided otherwise later"
            case let other: return other.map { "no: \($0)" } ?? "no"
            }
        }
    }
}
