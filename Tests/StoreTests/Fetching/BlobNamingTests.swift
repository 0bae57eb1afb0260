import GRDBSQLite
import SyncStore
import Testing

/// The cost of the step of the schema that names blobs by their hashes and sizes.
struct BlobNamingTests {
    /// Adds stored blobs with an attachment each to a store that `FetchContractTests.unnaming` made one of before.
    private static func filling(_ count: Int) -> String {
        """
        WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < \(count))
            INSERT INTO blob_reference (id, space, blob, attachments, size, stamp)
            SELECT i, 1, CAST(printf('%032d', i) AS BLOB), 1, 5, i FROM number;
        INSERT INTO blob (hash, size, place, touched) SELECT blob, size, 1, 0 FROM blob_reference;
        INSERT INTO attachment (replica, counter, object, reference, stamp, label, name, media_type, size)
            SELECT 1, id, 1, id, stamp, printf('%026d', id), 'name', 'text/plain', size FROM blob_reference;
        """
    }

    /// An open database that counts the work of SQLite's virtual machine: no clock, and the same on every machine.
    private struct Database {
        private static let stepsPerCall: Int32 = 100
        private let handle: OpaquePointer

        init(_ path: String) throws {
            var handle: OpaquePointer?
            let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
            self.handle = try #require(handle)
            try #require(code == SQLITE_OK, "\(path)")
        }

        func close() { sqlite3_close(handle) }

        /// Returns the number of steps, in hundreds.
        func run(_ script: String) throws -> Int {
            var calls = 0
            let code = withUnsafeMutablePointer(to: &calls) { calls in
                sqlite3_progress_handler(
                    handle, Self.stepsPerCall,
                    { calls in
                        calls?.assumingMemoryBound(to: Int.self).pointee += 1
                        return 0
                    }, calls)
                defer { sqlite3_progress_handler(handle, 0, nil, nil) }
                return sqlite3_exec(handle, script, nil, nil, nil)
            }
            try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
            return calls
        }
    }

    private func work(naming count: Int) throws -> Int {
        let bed = StoreBed(.sqliteInTmpfs)
        try bed.open().close()
        let database = try Database(bed.directory + "/lanyard.sqlite")
        defer { database.close() }
        _ = try database.run("BEGIN;" + FetchContractTests.unnaming + Self.filling(count))
        return try database.run(Schema.current.steps[18] + "COMMIT;")
    }

    @Test func `naming twice as many blobs costs twice the work`() throws {
        let (once, twice) = (try work(naming: 1_000), try work(naming: 2_000))
        #expect(once > 1_000, "a thousand blobs were named")
        #expect(twice < 3 * once, "\(once), then \(twice): not four times as much")
    }
}
