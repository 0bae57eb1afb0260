/// A binary heap of what will happen, by time and then by the order in which it was planned.
struct EventQueue<Event> {
    /// Events are large, and the heap moves its entries often: it holds their places.
    private struct Entry {
        let at: Int64
        let order: UInt64
        let place: Int
    }

    private var heap: [Entry] = []
    private var events: [Event?] = []
    private var freePlaces: [Int] = []
    private var planned: UInt64 = 0

    var isEmpty: Bool { heap.isEmpty }

    mutating func plan(_ event: Event, at: Int64) {
        planned += 1
        heap.append(Entry(at: at, order: planned, place: keep(event)))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(child, parent) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int64, event: Event)? {
        guard let first = heap.first, let event = events[first.place].take() else { return nil }
        freePlaces.append(first.place)
        let last = heap.removeLast()
        guard !heap.isEmpty else { return (first.at, event) }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count && precedes(child, least) {
                least = child
            }
            guard least != parent else { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return (first.at, event)
    }

    private mutating func keep(_ event: Event) -> Int {
        if let place = freePlaces.popLast() {
            events[place] = event
            return place
        }
        events.append(event)
        return events.count - 1
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (heap[left].at, heap[left].order) < (heap[right].at, heap[right].order)
    }
}
