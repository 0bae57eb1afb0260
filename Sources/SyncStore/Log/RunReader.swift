package import SyncModel

/// Reads one stream's events out of one stored segment.
package struct RunReader: Sendable {
    package let replica: ReplicaID
    package let stream: [UInt8]
    /// Arrival number of the segment's first event.
    package let firstPosition: Int64
    package let places: [EventPlaces.Place]
    package let bytes: [UInt8]
    /// Events of the stream that are passed over.
    package let hidden: HiddenEvents

    package init(
        replica: ReplicaID, stream: String, firstPosition: Int64, places: [EventPlaces.Place], bytes: [UInt8],
        hidden: HiddenEvents
    ) {
        self.replica = replica
        self.stream = Array(stream.utf8)
        self.firstPosition = firstPosition
        self.places = places
        self.bytes = bytes
        self.hidden = hidden
    }

    /// Hands over the events at or behind `position`, in order, until `body` returns false.
    /// - Returns: false when the bytes are not what the places say: the store is corrupt.
    package func forEach(from position: Int64, _ body: (StoredEvent) -> Bool) -> Bool {
        // The change before the first place beyond may hold it too.
        let beyond = places.partitioned { $0.ordinal <= position - firstPosition }
        return forEach(from: max(0, beyond - 1)) { $0.position < position || body($0) }
    }

    /// Hands over the events behind `key`, in canonical order, until `body` returns false.
    /// - Returns: as above.
    package func forEach(after key: CanonicalKey?, _ body: (StoredEvent) -> Bool) -> Bool {
        guard let key else { return forEach(from: 0 as Int, body) }
        let first = places.partitioned { place in change(at: place).map { $0.stamp < key.stamp } ?? false }
        return forEach(from: first) { $0.canonicalKey <= key || body($0) }
    }

    private func forEach(from first: Int, _ body: (StoredEvent) -> Bool) -> Bool {
        for place in places[min(first, places.count)...] {
            switch read(place, body) {
            case .finished: return true
            case .damaged: return false
            case .more: continue
            }
        }
        return true
    }

    private func change(at place: EventPlaces.Place) -> ChangeView? {
        guard place.change < bytes.count else { return nil }
        var reader = ByteReader(bytes, place.change..<bytes.count)
        return try? ChangeView(&reader)
    }

    private enum Progress {
        case more
        case finished
        case damaged
    }

    private func read(_ place: EventPlaces.Place, _ body: (StoredEvent) -> Bool) -> Progress {
        guard let change = change(at: place) else { return .damaged }
        // The place names the stream's first event; events of other streams before it have smaller ordinals.
        var ordinal: Int64?
        var finished = false
        change.forEachOperation(in: bytes) { counter, operation in
            guard !finished, operation.kind == Operation.Kind.appendEvent, operation.span == 1,
                let view = try? EventView(operation.body, in: bytes)
            else { return }
            let isOurs = bytes[view.stream].elementsEqual(stream)
            guard let current = ordinal ?? (isOurs ? place.ordinal : nil) else { return }
            ordinal = current + 1
            guard isOurs, !hidden.contains(Dot(replica: replica, counter: counter)) else { return }
            finished = !body(event(view, counter, change, position: firstPosition + current))
        }
        if ordinal == nil { return .damaged }
        return finished ? .finished : .more
    }

    private func event(_ view: EventView, _ counter: UInt64, _ change: ChangeView, position: Int64) -> StoredEvent {
        StoredEvent(
            dot: Dot(replica: replica, counter: counter), stamp: change.stamp,
            type: view.type.map { String(decoding: bytes[$0], as: UTF8.self) }, payload: Array(bytes[view.payload]),
            wallMilliseconds: change.wallMilliseconds, position: position)
    }
}

extension Array {
    /// Returns the number of elements at the beginning that satisfy `condition`; no later element does.
    fileprivate func partitioned(_ condition: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
