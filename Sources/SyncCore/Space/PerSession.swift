import SyncModel

/// The state that one machine keeps for each session, in the order the sessions opened.
///
/// A session that is not open reads as the initial value, and what is written to it is gone: a machine need not ask first.
/// Bounds: one value a session. There are few sessions, so a search is as fast as a hash.
struct PerSession<Value: Sendable>: Sendable {
    private let initial: Value
    private(set) var ids: [ConnectionID] = []
    private(set) var values: [Value] = []

    init(initial: Value) { self.initial = initial }

    mutating func open(_ id: ConnectionID) {
        ids.append(id)
        values.append(initial)
    }

    mutating func close(_ id: ConnectionID) {
        guard let index = ids.firstIndex(of: id) else { return }
        ids.remove(at: index)
        values.remove(at: index)
    }

    subscript(id: ConnectionID) -> Value {
        _read {
            if let index = ids.firstIndex(of: id) { yield values[index] } else { yield initial }
        }
        _modify {
            if let index = ids.firstIndex(of: id) {
                yield &values[index]
            } else {
                var scratch = initial
                yield &scratch
            }
        }
    }
}
