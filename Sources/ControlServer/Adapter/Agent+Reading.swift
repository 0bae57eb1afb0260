import ControlAPI
import SyncAgent
import SyncStore

// Reads of the store by the control API: on threads of the store, never on those of the task pool.
extension Agent {
    /// Runs reads of the store on one of its reading threads, in the order in which requests came.
    func reading<Value>(_ body: () throws(ControlError) -> Value) async throws(ControlError) -> Value {
        try await reading(body) { refusal in
            switch refusal {
            case .cancelled: .waitEnded
            case .closed: ControlError(agent: StoreError.closed, directory: configuration.dataDirectory)
            }
        }
    }

    /// Runs `body` as `reading` does if it reads the store; otherwise where it is called, which saves two changes of thread.
    func reading<Value>(
        if readsStore: Bool, _ body: () throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        if readsStore { try await reading(body) } else { try body() }
    }

    /// Runs one read of the store as `reading` does, and gives its errors their codes.
    func stored<Value>(_ body: () throws(StoreError) -> Value) async throws(ControlError) -> Value {
        try await reading { () throws(ControlError) in try read(body) }
    }

    /// Hands over all objects of a query without a limit, page by page. To be called on a reading thread.
    func forEachObject(
        of query: SyncStore.ObjectQuery, _ body: (StoredObject) throws(ControlError) -> Void
    ) throws(ControlError) {
        var query = query
        while true {
            let page = try read { [query] () throws(StoreError) in try store.objects(query) }
            for object in page { try body(object) }
            guard page.count == query.limit, let last = page.last else { return }
            query.after = last.key
        }
    }

    /// Gives the errors of a read their codes. To be called on a reading thread.
    func read<Value>(_ body: () throws(StoreError) -> Value) throws(ControlError) -> Value {
        do throws(StoreError) { return try body() } catch {
            throw ControlError(agent: error, directory: configuration.dataDirectory)
        }
    }
}

extension Array {
    /// The cursor of the page behind this one; nil if this one is not full, and so the last.
    func next(limit: Int, _ cursor: (Element) -> String) -> String? {
        count < limit ? nil : last.map(cursor)
    }
}
