import GRDB
import GRDBSQLite

/// A value bound to a statement's parameter.
enum SQLValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
    static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}

/// A connection while it may be used: inside `Connection.use`. Statements are GRDB's (cached, finalized with the
/// connection); they are bound and stepped directly, which spares a box for every value.
struct SQLiteAccess {
    private let database: Database
    private let path: String

    init(_ database: Database, path: String) {
        self.database = database
        self.path = path
    }

    /// Runs a statement whose rows do not matter.
    func run(_ sql: String, _ values: SQLValue...) throws(StoreError) {
        try stepping(sql, values) { _ throws(StoreError) in true }
    }

    /// Hands over the rows of a statement until `body` returns false.
    func forEach(
        _ sql: String, _ values: SQLValue..., body: (SQLRow) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try stepping(sql, values, body)
    }

    /// The same for a statement whose text varies with the number of values: it is not kept for the next time.
    func forEach(
        _ sql: String, values: [SQLValue], body: (SQLRow) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try stepping(sql, values, isKept: false, body)
    }

    /// The first row, if there is one.
    func first<Value>(
        _ sql: String, _ values: SQLValue..., read: (SQLRow) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        var value: Value?
        try stepping(sql, values) { row throws(StoreError) in
            value = try read(row)
            return false
        }
        return value
    }

    /// Several statements at once, without parameters: schema files.
    func runScript(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(database.sqliteConnection, sql, nil, nil, nil)
        if code != SQLITE_OK { throw refusal(code) }
    }

    /// Runs several statements, and calls `working` before, and again after each million steps of SQLite's machine: some ten
    /// times a second (sqlite.org/c3ref/progress_handler.html).
    func runScript(_ sql: String, working: @escaping () -> Void) throws(StoreError) {
        working()
        var body = working
        let code = withUnsafeMutablePointer(to: &body) { pointer in
            sqlite3_progress_handler(
                database.sqliteConnection, 1_000_000,
                { context in
                    context?.assumingMemoryBound(to: (() -> Void).self).pointee()
                    return 0
                }, pointer)
            defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
            return sqlite3_exec(database.sqliteConnection, sql, nil, nil, nil)
        }
        if code != SQLITE_OK { throw refusal(code) }
    }

    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(database.sqliteConnection) }

    /// Runs one transaction; an error inside it, or from its commit, leaves nothing behind.
    ///
    /// - Parameter syncs: gets the time of the commit alone, if something was written: SQLite then writes the write-ahead log
    ///   and syncs it.
    func transaction<Value>(
        timing syncs: DurationHistogram? = nil, _ body: (SQLiteAccess) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try run("BEGIN IMMEDIATE")
        do throws(StoreError) {
            let before = sqlite3_total_changes(database.sqliteConnection)
            let value = try body(self)
            let start = ContinuousClock.now
            try run("COMMIT")
            if sqlite3_total_changes(database.sqliteConnection) != before { syncs?.record(since: start) }
            return value
        } catch {
            // SQLite has rolled back by itself after most I/O errors; then there is nothing to do.
            if sqlite3_get_autocommit(database.sqliteConnection) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Runs several reads on one unchanging view of the store.
    func snapshot<Value>(_ body: (SQLiteAccess) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try run("BEGIN DEFERRED")
        defer { try? run("COMMIT") }
        return try body(self)
    }

    /// Copies every page of `source`, as it sees them: inside a snapshot, of its moment (sqlite.org/backup.html).
    func copyPages(of source: SQLiteAccess, pagesPerStep: Int32, isStopped: () -> Bool) throws(StoreError) {
        let (target, origin) = (database.sqliteConnection, source.database.sqliteConnection)
        guard let copying = sqlite3_backup_init(target, "main", origin, "main") else {
            throw refusal(sqlite3_errcode(target))
        }
        var code = SQLITE_OK
        while code == SQLITE_OK, !isStopped() { code = sqlite3_backup_step(copying, pagesPerStep) }
        let ended = sqlite3_backup_finish(copying)
        if code == SQLITE_OK { throw .closed }
        if code != SQLITE_DONE { throw refusal(code) }
        if ended != SQLITE_OK { throw refusal(ended) }
    }

    private func stepping(
        _ sql: String, _ values: [SQLValue], isKept: Bool = true, _ body: (SQLRow) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let statement: Statement
        do {
            statement = isKept ? try database.cachedStatement(sql: sql) : try database.makeStatement(sql: sql)
        } catch {
            throw SQLiteFailure.refusal(error, path: path)
        }
        let handle = statement.sqliteStatement
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() { try bind(value, Int32(index + 1), to: handle) }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: if try !body(SQLRow(statement: handle)) { return }
            case SQLITE_DONE: return
            case let code: throw refusal(code)
            }
        }
    }

    private func bind(_ value: SQLValue, _ index: Int32, to handle: OpaquePointer) throws(StoreError) {
        let code =
            switch value {
            case .integer(let integer): sqlite3_bind_int64(handle, index, integer)
            case .text(let text): sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), Self.copied)
            case .blob(let bytes):
                bytes.withUnsafeBytes { raw in
                    // A null pointer would bind NULL; an empty blob is something else.
                    raw.isEmpty
                        ? sqlite3_bind_zeroblob(handle, index, 0)
                        : sqlite3_bind_blob(handle, index, raw.baseAddress, Int32(raw.count), Self.copied)
                }
            case .null: sqlite3_bind_null(handle, index)
            }
        if code != SQLITE_OK { throw refusal(code) }
    }

    /// SQLITE_TRANSIENT: SQLite copies what is bound.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func refusal(_ code: Int32) -> StoreError {
        SQLiteFailure.refusal(database.sqliteConnection, code: code, path: path)
    }
}

/// The current row of a statement that is being stepped; columns count from 0.
struct SQLRow {
    fileprivate let statement: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func text(_ column: Int32) -> String {
        guard let characters = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: characters, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}
