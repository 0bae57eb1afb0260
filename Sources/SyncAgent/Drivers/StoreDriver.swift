import Dispatch
package import NIOCore
import SyncCore
package import SyncModel
package import SyncStore

/// Runs the store off the event loop: writes one after the other on a thread of their own, reads beside them.
package final class StoreDriver: Sendable {
    package let store: SQLiteStore
    /// The reads of tasks. More than there are connections: a read also turns rows into answers.
    let reads = ReadQueue(threadCount: 4)
    package let measures = StoreMeasures()
    private let eventLoop: any EventLoop
    private let writer = DispatchQueue(label: "lanyard.store.write", qos: .userInitiated)
    private let reader = DispatchQueue(label: "lanyard.store.serve", qos: .userInitiated)
    /// Plans of large writes, one at a time, beside both.
    private let planner = DispatchQueue(label: "lanyard.store.plan", qos: .utility)

    package init(store: SQLiteStore, eventLoop: any EventLoop) {
        self.store = store
        self.eventLoop = eventLoop
    }

    package func apply(_ segments: [VerifiedSegment]) -> EventLoopFuture<Commit> {
        run(on: writer) { [measures] store throws(StoreError) in
            try measures.applies.timing { () throws(StoreError) in
                try store.apply(segments, wallMilliseconds: WallClock.milliseconds)
            }
        }
    }

    package func append(_ writes: [LocalWrite]) -> EventLoopFuture<AppendResult> {
        run(on: writer) { store throws(StoreError) in
            try store.append(writes, wallMilliseconds: WallClock.milliseconds)
        }
    }

    /// The same writes, large ones planned as far as that can be done beside the writer.
    package func prepared(_ writes: [LocalWrite]) async -> [LocalWrite] {
        guard writes.contains(where: \.isLarge) else { return writes }
        return await withCheckedContinuation { continuation in
            planner.async { [store] in
                let now = WallClock.milliseconds
                continuation.resume(
                    returning: writes.map { (try? store.prepared($0, wallMilliseconds: now)) ?? $0 })
            }
        }
    }

    /// Runs `body` on the writing thread, after all earlier writes.
    func onWriter(_ body: @escaping @Sendable (SQLiteStore) -> Void) {
        writer.async { [store] in body(store) }
    }

    func seal() -> EventLoopFuture<Commit> { write { store throws(StoreError) in try store.seal() } }

    /// Refused only by a closed store.
    func leaveOpen() { writer.async { [store] in try? store.leaveOpen() } }

    /// Closes the incarnation before any later write. Refused only by a closed store.
    func closeIncarnation(of replica: ReplicaID) {
        writer.async { [store] in try? store.closeIncarnation(of: replica) }
    }

    func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) -> EventLoopFuture<[Segment]> {
        run(on: reader) { store throws(StoreError) in
            try store.segments(of: replica, from: start, byteBudget: byteBudget)
        }
    }

    /// Returns the number of attachments that should be here and are not.
    func missingCount(of space: SpaceID) -> EventLoopFuture<Int> {
        run(on: reader) { store throws(StoreError) in try store.missingCount(of: space) }
    }

    /// Returns the receipt for a wipe that is kept of a device.
    func wipeReceipt(of device: DeviceID) -> EventLoopFuture<WipeReceipt?> {
        run(on: reader) { store throws(StoreError) in try store.wipeReceipt(of: device, space: .home) }
    }

    /// Returns the keys of daily tags in the objects of these devices.
    func discoveryKeys(of devices: [DeviceID]) -> EventLoopFuture<[DeviceID: DiscoveryKey.Kept]> {
        run(on: reader) { store throws(StoreError) in try store.discoveryKeys(of: devices, space: .home) }
    }

    func heads(at entries: [VersionVector.Entry]) -> EventLoopFuture<[ChainHead?]> {
        run(on: reader) { store throws(StoreError) in try store.heads(at: entries) }
    }

    /// Members' acknowledgements; what is not kept is asked for again after the next start.
    func keep(_ acknowledgements: [SignedAcknowledgement]) {
        writer.async { [store] in try? store.keep(acknowledgements) }
    }

    /// Remembers the address at which a member was met; a failure costs a slower return, so it is not reported.
    func remember(_ endpoint: Endpoint, _ device: DeviceID) {
        writer.async { [store] in
            let address = PeerAddress(
                host: endpoint.host, port: endpoint.port, device: device, isStatic: false,
                lastConnectedMilliseconds: WallClock.milliseconds)
            try? store.remember(address)
        }
    }

    /// Records the holders of blobs, to tell people which device had one last; a failure is not reported.
    func recordHolders(_ blobs: [BlobName], _ device: DeviceID) {
        writer.async { [store] in try? store.recordHolders(blobs, device: device, at: WallClock.milliseconds) }
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteStore) throws(StoreError) -> Value
    ) -> EventLoopFuture<Value> {
        run(on: writer, body)
    }

    /// Runs a write on the store; durable when it returns.
    func update<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteStore) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation { continuation in
            writer.async { [store] in
                continuation.resume(returning: Result { () throws(StoreError) in try body(store) })
            }
        }
        return try result.get()
    }

    /// Closes the store, after all earlier writes. Reads that wait are refused.
    func close() {
        reads.close()
        writer.sync { store.close() }
    }

    private func run<Value: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable (SQLiteStore) throws(StoreError) -> Value
    ) -> EventLoopFuture<Value> {
        let promise = eventLoop.makePromise(of: Value.self)
        queue.async { [store] in
            do { promise.succeed(try body(store)) } catch { promise.fail(error) }
        }
        return promise.futureResult
    }

    /// The stable code of a refusal.
    package static func code(of error: any Error) -> String {
        guard let error = error as? StoreError else { return "store_failed" }
        switch error {
        case .diskFull: return "disk_full"
        case .inputOutput: return "disk_error"
        case .corrupt: return "store_corrupt"
        case .schemaNewer: return "schema_newer"
        case .locked: return "already_running"
        case .unreadable: return "directory_unreadable"
        case .notApplicable: return "not_applicable"
        case .foreignTail: return "identity_changed"
        case .stampsExhausted: return "stamps_exhausted"
        case .refused(let error): return error.code
        case .retired: return "retired"
        case .closed: return "stopping"
        }
    }
}
