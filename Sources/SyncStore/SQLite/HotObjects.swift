import Synchronization
import SyncModel

/// The sizes of a large object's rows in the database.
struct StoredForm: Sendable {
    var snapshotBytes: Int
    var editBytes = 0
    /// The number of the next edit.
    var nextNumber: Int64 = 0
    /// The contexts of the newest edits, for replicas with edits behind the snapshot.
    var contexts: [ReplicaID: VersionVector] = [:]
}

/// Large objects that were edited a moment ago, as the writer left them: the next keystroke finds them built.
///
/// A transaction takes an object out and puts it back when it is durable, so what is in here is what is stored; what a failed
/// one took is read again. No other code may keep a reference to these objects: they would be copied.
final class HotObjects: Sendable {
    struct Hot: Sendable {
        var object: StoredObject
        var form: StoredForm
    }

    /// Beyond it the one edited longest ago goes.
    private static let count = 4

    /// An object is large from so many bytes of state on.
    let largeBytes: Int

    private struct State: Sendable {
        /// The one edited last at the end.
        var kept: [Hot] = []
        /// Taken or made by the transaction that is running.
        var forms: [ObjectKey: StoredForm] = [:]
        var written: [Hot] = []

        mutating func remove(_ key: ObjectKey) {
            kept.removeAll { $0.object.key == key }
            written.removeAll { $0.object.key == key }
        }
    }

    private let state = Mutex(State())

    init(largeBytes: Int) { self.largeBytes = largeBytes }

    /// The object, if it is here and as old as the row says.
    func take(_ key: ObjectKey, position: Int64) -> StoredObject? {
        state.withLock { state in
            guard let index = state.kept.firstIndex(where: { $0.object.key == key }) else { return nil }
            let hot = state.kept.remove(at: index)
            guard hot.object.position == position else { return nil }
            state.forms[key] = hot.form
            return hot.object
        }
    }

    /// Notes how an object lies that was read for the running transaction.
    func record(_ form: StoredForm, of key: ObjectKey) { state.withLock { $0.forms[key] = form } }

    /// Returns the stored form of an object that the running transaction took.
    func form(of key: ObjectKey) -> StoredForm? { state.withLock { $0.forms[key] } }

    /// An object as the running transaction leaves it.
    func put(_ object: StoredObject, _ form: StoredForm) {
        state.withLock { state in
            // Not only once it is durable: what a transaction wrote by another way lies otherwise at the same position.
            state.remove(object.key)
            var hot = Hot(object: object, form: form)
            hot.object.summary.forgetTables()
            state.written.append(hot)
            state.written.removeFirst(max(0, state.written.count - Self.count))
        }
    }

    /// The object is not large any more, or gone.
    func drop(_ key: ObjectKey) {
        state.withLock { $0.remove(key) }
    }

    /// The running transaction is durable, or left nothing behind.
    func finish(isDurable: Bool) {
        state.withLock { state in
            if isDurable {
                state.kept += state.written
                state.kept.removeFirst(max(0, state.kept.count - Self.count))
            }
            state.written = []
            state.forms = [:]
        }
    }

    func forget() { state.withLock { $0.kept = [] } }
}
