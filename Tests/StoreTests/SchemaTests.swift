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

    /// The last column of each table, where no key has it.
    private static let lastColumns = """
        SELECT tables.name, columns.name FROM pragma_table_list AS tables, pragma_table_xinfo(tables.name) AS columns
        WHERE tables.schema = 'main' AND tables.name NOT LIKE 'sqlite%' AND columns.cid = tables.ncol - 1 AND columns.pk = 0
            AND NOT EXISTS (
                SELECT 1 FROM pragma_index_list(tables.name) AS indexes, pragma_index_xinfo(indexes.name) AS parts
                WHERE indexes.origin <> 'c' AND parts.key = 1 AND parts.cid = columns.cid)
        """

    /// The database of a closed store that was made with a schema.
    private final class Database {
        private let bed = StoreBed(.sqliteInTmpfs)
        private var handle: OpaquePointer?

        init(_ schema: Schema = .current) throws {
            try bed.open(schema: schema).close()
            let code = sqlite3_open_v2(bed.directory + "/lanyard.sqlite", &handle, SQLITE_OPEN_READWRITE, nil)
            try #require(code == SQLITE_OK)
        }

        deinit { sqlite3_close(handle) }

        func rows(_ question: String) throws -> [[String]] {
            var statement: OpaquePointer?
            try #require(sqlite3_prepare_v2(handle, question, -1, &statement, nil) == SQLITE_OK, "\(question)")
            defer { sqlite3_finalize(statement) }
            var rows: [[String]] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                rows.append(
                    (0..<sqlite3_column_count(statement)).map { column in
                        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "null"
                    })
            }
            try #require(!rows.isEmpty, "\(question)")
            return rows
        }

        /// - Returns: the reason why SQLite refused; nil if it did not.
        func refusal(of script: String) -> String? {
            sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK ? nil : String(cString: sqlite3_errmsg(handle))
        }
    }

    /// Returns the answers to the questions, a line for each row, in order. Texts are without comments, and with one space where there
    /// is any.
    private func description(of schema: Schema) throws -> [String] {
        let database = try Database(schema)
        return try Self.questions.flatMap { question in
            try database.rows(question).map { $0.map(Self.plain).joined(separator: " ") }.sorted()
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

    /// What a later step may do: the last column is where SQLite looks at the text that it keeps of a table.
    @Test func `a later step can drop the last column of any table of a new store`() throws {
        let database = try Database()
        for index in try database.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL") {
            try #require(database.refusal(of: "DROP INDEX \(index[0])") == nil)
        }
        let columns = try database.rows(Self.lastColumns)
        #expect(columns.contains(["space", "recovery_key"]))
        for column in columns {
            #expect(database.refusal(of: "ALTER TABLE \(column[0]) DROP COLUMN \(column[1])") == nil, "\(column)")
        }
    }
}
