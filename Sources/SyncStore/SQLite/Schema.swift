import Glibc

/// The schema as numbered steps. Forward only: a database is brought up to the newest step in one transaction, and one
/// written by a newer program is refused with its number.
///
/// While the steps run, the agent answers nothing but how far it is. So a step defines tables and columns, and fills them with
/// SQL at most; what takes the operations of the log is filled by `Derivation`, during which the store is read.
package struct Schema: Sendable {
    /// The n-th, counted from 1, is the file `Schema/0n-name.sql`.
    package let steps: [String]
    /// The schema to which all steps lead, `Schema/whole.sql`: a new database takes it in a sixth of the time. Nil where a new one
    /// is to take the steps, too.
    let whole: String?

    package init(steps: [String], whole: String? = nil) {
        self.steps = steps
        self.whole = whole
    }

    package static let current = Schema(
        steps: [
            text(PackageResources._1_log_sql), text(PackageResources._2_objects_sql),
            text(PackageResources._3_streams_sql), text(PackageResources._4_acknowledgements_sql),
            text(PackageResources._5_large_objects_sql), text(PackageResources._6_attachments_sql),
            text(PackageResources._7_blobs_sql), text(PackageResources._8_fetching_sql),
            text(PackageResources._9_state_sql), text(PackageResources._0_compaction_sql),
            text(PackageResources._1_snapshots_sql), text(PackageResources._2_cuts_sql),
            text(PackageResources._3_first_contexts_sql), text(PackageResources._4_taken_back_sql),
            text(PackageResources._5_dropped_events_sql), text(PackageResources._6_blocked_sql),
            text(PackageResources._7_answered_writes_sql), text(PackageResources._8_chunk_places_sql),
            text(PackageResources._9_blob_names_sql), text(PackageResources._0_removed_objects_sql),
            text(PackageResources._1_absent_values_sql), text(PackageResources._2_trust_sql),
            text(PackageResources._3_founder_sql), text(PackageResources._4_strict_ends_sql),
            text(PackageResources._5_ticket_end_sql),
        ], whole: withoutComments(text(PackageResources.whole_sql)))

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the script without its comments. SQLite keeps the text of a table: each connection would read them, and it drops the
    /// last column together with all behind the comma before it, which may be one in a comment.
    private static func withoutComments(_ script: String) -> String {
        script.split(separator: "\n").map { line in
            line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line
        }.joined(separator: "\n")
    }

    package var version: Int { steps.count }

    /// Brings the database up to date.
    ///
    /// - Parameter keepCopy: called before an older database is changed, with its version.
    func migrate(
        _ access: SQLiteAccess, _ report: UpgradeReport, keepCopy: (Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        let found = try Self.version(of: access)
        guard found <= version else { throw .schemaNewer(found: found, known: version) }
        guard found < version else { return }
        if found > 0 {
            report(.copying)
            try keepCopy(found)
        }
        try access.transaction { access throws(StoreError) in
            if found == 0, let whole {
                try access.runScript(whole) { report(.migrating, 0) }
            } else {
                for number in found..<version {
                    let share = Double(number - found) / Double(version - found)
                    try access.runScript(steps[number]) { report(.migrating, share) }
                }
            }
            try access.runScript("PRAGMA user_version = \(version)")
        }
    }

    static func version(of access: SQLiteAccess) throws(StoreError) -> Int {
        Int(try access.first("PRAGMA user_version") { row throws(StoreError) in row.integer(0) } ?? 0)
    }
}
