import GRDBSQLite
import SyncStore
import Testing

/// The schema that a new store takes as a whole, against the one to which an older store is brought step by step.
@Suite struct SchemaTests {
    /// What SQLite tells of a schema, and of the one row that a new store has.
    private static let questions = [
        "PRAGMA application_id", "PRAGMA user_version",
        "SELECT type, name, tbl_name, sql FROM sqlite_schema",
        "SELECT name, ncol, wr, strict FROM pragma_table_list",
        "SELECT tables.name, columns.* FROM pragma_table_list AS tables, pragma_table_xinfo(tables.name) AS columns",
        """
        SELECT tables.name, indexes.*, columns.*
        FROM pragma_table_list AS tables, pragma_index_list(tables.name) AS indexes, pragma_index_xinfo(indexes.name) AS columns
        """,
        "SELECT * FROM space",
    ]

    /// The answers to these questions of a store that was made with a schema, a line for each row, in order. Texts are without
    /// comments, and with one space where there is any.
    private func description(of schema: Schema) throws -> [String] {
        let bed = StoreBed(.sqliteInTmpfs)
        try bed.open(schema: schema).close()
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(bed.directory + "/lanyard.sqlite", &handle, SQLITE_OPEN_READWRITE, nil)
        defer { sqlite3_close(handle) }
        try #require(code == SQLITE_OK)
        return try Self.questions.flatMap { question in
            var statement: OpaquePointer?
            try #require(sqlite3_prepare_v2(handle, question, -1, &statement, nil) == SQLITE_OK, "\(question)")
            defer { sqlite3_finalize(statement) }
            var rows: [String] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                let columns = (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { Self.plain(String(cString: $0)) } ?? "null"
                }
                rows.append(columns.joined(separator: " "))
            }
            try #require(!rows.isEmpty, "\(question)")
            return rows.sorted()
        }
    }

    private static func plain(_ text: String) -> String {
        let words = text.split(separator: "\n").flatMap { line in
            (line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line).split(separator: " ")
        }
        return String(words.joined(separator: " ")).replacing(" ,", with: ",").replacing(" )", with: ")")
    }

    @Test func `a new store has the schema to which the steps bring an older one`() throws {
        let (whole, stepwise) = (
            try description(of: .current), try description(of: Schema(steps: Schema.current.steps))
        )
        let (missing, extra) = (Set(stepwise).subtracting(whole), Set(whole).subtracting(stepwise))
        #expect(whole == stepwise, "whole.sql lacks \(missing.sorted()), and has \(extra.sorted())")
    }

    /// What a later step may do to any table: the last column goes, which is where SQLite looks at the text that it keeps.
    @Test func `the last column of each table can be dropped from a new store by a later step`() throws {
        let tables = [
            "space": "recovery_key", "replica": "strict_end", "addition": "counter", "consumer": "snapshot",
            "collection": "removed", "object": "history", "edit": "kind", "trust": "detail",
        ]
        for (table, column) in tables {
            let bed = StoreBed(.sqliteInTmpfs)
            try bed.open().close()
            var handle: OpaquePointer?
            let code = sqlite3_open_v2(bed.directory + "/lanyard.sqlite", &handle, SQLITE_OPEN_READWRITE, nil)
            defer { sqlite3_close(handle) }
            try #require(code == SQLITE_OK)
            let step = "DROP INDEX IF EXISTS replica_with_strict_end; ALTER TABLE \(table) DROP COLUMN \(column)"
            #expect(
                sqlite3_exec(handle, step, nil, nil, nil) == SQLITE_OK,
                "\(table): \(String(cString: sqlite3_errmsg(handle)))")
        }
    }
}
