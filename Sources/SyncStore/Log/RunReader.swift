package import SyncModel

/// Reads one stream's events out of one stored segment.
package struct RunReader: Sendable {
    package let replica: ReplicaID
    package let stream: [UInt8]
    /// Arrival number of the segment's first event.
    package let firstPosition: Int64
    package let places: [EventPlaces.Place]
    package let bytes: [UInt8]

    package init(
        replica: ReplicaID, stream: String, firstPosition: Int64, places: [EventPlaces.Place], bytes: [UInt8]
    ) {
        self.replica = replica
        self.stream = Array(stream.utf8)
        self.firstPosition = firstPosition
        self.places = places
        self.bytes = bytes
    }

    /// Hands over events in order, those of the first change that could be at or behind `position` first, until `body`
    /// returns false.
    /// - Returns: false when the bytes are not what the places say: the store is corrupt.
    package func forEach(from position: Int64, _ body: (StoredEvent) -> Bool) -> Bool {
        for index in firstPlace(reaching: position - firstPosition)..<places.count {
            switch read(places[index], from: position, body) {
            case .finished: return true
            case .damaged: return false
            case .more: continue
            }
        }
        return true
    }

    private enum Progress {
        case more
        case finished
        case damaged
    }

    /// The last place whose first ordinal is not beyond `ordinal`.
    private func firstPlace(reaching ordinal: Int64) -> Int {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].ordinal <= ordinal { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }

    private func read(_ place: EventPlaces.Place, from position: Int64, _ body: (StoredEvent) -> Bool) -> Progress {
        guard place.change < bytes.count else { return .damaged }
        var reader = ByteReader(bytes, place.change..<bytes.count)
        guard let change = try? ChangeView(&reader) else { return .damaged }
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
            guard isOurs, firstPosition + current >= position else { return }
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
