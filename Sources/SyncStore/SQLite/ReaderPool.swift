import Dispatch
import Synchronization

/// A few read-only connections, so that reads wait neither for the writer nor, mostly, for each other.
///
/// A caller holds its thread while it waits for a connection, so it runs on a thread of the store's or of a driver's. Tasks
/// read through `ReadQueue`.
final class ReaderPool: Sendable {
    private let free: Mutex<[Connection]>
    private let count: Int
    private let available: DispatchSemaphore

    init(count: Int, open: () throws(StoreError) -> Connection) throws(StoreError) {
        var connections: [Connection] = []
        for _ in 0..<count { connections.append(try open()) }
        self.count = count
        free = Mutex(connections)
        available = DispatchSemaphore(value: count)
    }

    /// Runs `body` on a free connection, within one unchanging view of the store.
    func read<Value>(_ body: (SQLiteAccess) throws(StoreError) -> Value) throws(StoreError) -> Value {
        available.wait()
        let connection = free.withLock { $0.removeLast() }
        defer {
            free.withLock { $0.append(connection) }
            available.signal()
        }
        return try connection.use { access throws(StoreError) in try access.snapshot(body) }
    }

    /// Waits for the reads under way and closes all.
    func close() {
        for _ in 0..<count { available.wait() }
        free.withLock { connections in
            for connection in connections { connection.close() }
        }
        for _ in 0..<count { available.signal() }
    }
}
