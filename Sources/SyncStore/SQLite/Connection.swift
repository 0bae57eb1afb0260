import CStore
import GRDB
import GRDBSQLite

/// A connection to the database file, opened and closed by GRDB, used on its queue.
///
/// There is one writer, which alone writes and checkpoints (SQLite before 3.51.3 can corrupt a WAL that two connections reset
/// at once: sqlite.org/wal.html#walresetbug); every other connection is read-only and never checkpoints.
final class Connection: Sendable {
    enum Role {
        /// `syncing` false is a planted bug: WAL commits are then answered before they are on the disk.
        case writer(syncing: Bool, checkpointPages: Int)
        case reader
        /// A reader that keeps its transaction open between calls.
        case source
        /// A copy that takes all pages of another database. Not durable.
        case copy
    }

    private let queue: DatabaseQueue
    private let path: String

    init(path: String, virtualFileSystem: String?, role: Role) throws(StoreError) {
        self.path = path
        let name = virtualFileSystem.map { "file:\(path)?vfs=\($0)" } ?? path
        do {
            queue = try DatabaseQueue(path: name, configuration: Self.configuration(role))
        } catch {
            throw SQLiteFailure.refusal(error, path: path)
        }
    }

    private static func configuration(_ role: Role) -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(2)
        // Never `.wal` here: it makes GRDB set synchronous=NORMAL after everything below.
        configuration.journalMode = .default
        switch role {
        case .writer(let syncing, let checkpointPages):
            configuration.prepareDatabase { database in
                try Self.harden(database)
                try Self.letPagesMove(database)
                try database.execute(
                    sql: """
                        PRAGMA journal_mode = WAL;
                        PRAGMA synchronous = \(syncing ? "FULL" : "NORMAL");
                        PRAGMA wal_autocheckpoint = \(checkpointPages);
                        PRAGMA journal_size_limit = 16777216;
                        PRAGMA cache_size = -2048;
                        PRAGMA secure_delete = OFF;
                        """)
            }
        case .reader, .source:
            if case .source = role { configuration.allowsUnsafeTransactions = true }
            configuration.readonly = true
            configuration.prepareDatabase { database in
                try Self.harden(database)
                try database.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -512;")
            }
        case .copy:
            configuration.prepareDatabase { database in
                try Self.harden(database)
                try database.execute(
                    sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -512;")
            }
        }
        return configuration
    }

    /// Turns on incremental vacuum. Only a database without a page takes it: from then on each page knows the page that
    /// refers to it, so that empty ones can be given back a few at a time. Costs a page in 800. Set again on a database that
    /// has pages, it would write at every start.
    private static func letPagesMove(_ database: Database) throws {
        guard try Int.fetchOne(database, sql: "PRAGMA page_count") == 0 else { return }
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
    }

    private static func harden(_ database: Database) throws {
        let connection = database.sqliteConnection
        let code = lanyard_harden_connection(UnsafeMutableRawPointer(connection))
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, 128 << 20)
        sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, 64 << 10)
        sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(connection, SQLITE_LIMIT_WORKER_THREADS, 0)
        try database.execute(
            sql: "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;")
    }

    func use<Value>(_ body: (SQLiteAccess) throws(StoreError) -> Value) throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = queue.inDatabase { database in
            do throws(StoreError) {
                return .success(try body(SQLiteAccess(database, path: path)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// `PRAGMA synchronous` as this connection has it: 2 is FULL.
    func synchronousLevel() throws(StoreError) -> Int64 {
        try use { access throws(StoreError) in
            try access.first("PRAGMA synchronous") { row throws(StoreError) in row.integer(0) } ?? 0
        }
    }

    /// Finalizes what is left and closes; a connection is not used after that.
    func close() { try? queue.close() }
}
