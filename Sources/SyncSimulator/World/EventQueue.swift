/// A binary heap of what will happen, by time and then by the order in which it was planned.
struct EventQueue<Event> {
    private struct Entry {
        let at: Int64
        let order: UInt64
        let event: Event
    }

    private var heap: [Entry] = []
    private var planned: UInt64 = 0

    var isEmpty: Bool { heap.isEmpty }

    mutating func plan(_ event: Event, at: Int64) {
        planned += 1
        heap.append(Entry(at: at, order: planned, event: event))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(child, parent) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int64, event: Event)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return (first.at, first.event) }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && precedes(child, least) {
                least = child
            }
            guard least != parent else { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return (first.at, first.event)
    }

    /// Compares two places of the heap. It takes no entries, since that would copy their events.
    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (heap[left].at, heap[left].order) < (heap[right].at, heap[right].order)
    }
}
