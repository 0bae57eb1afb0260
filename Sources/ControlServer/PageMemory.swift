import Synchronization

/// What reading one page left for reading the next, for as long as one request lasts: then a list that is read to its end is
/// gone through once, whatever a page takes to begin.
package final class PageMemory: Sendable {
    private let left = Mutex<(cursor: String, rest: any Sendable)?>(nil)

    package init() {}

    /// What was left for the page that begins here; nil: begin anew. It is given once.
    package func take<Rest: Sendable>(_ type: Rest.Type, at cursor: String?) -> Rest? {
        left.withLock { left in
            defer { left = nil }
            guard let left, left.cursor == cursor else { return nil }
            return left.rest as? Rest
        }
    }

    /// Leaves something for the page that begins at `cursor`.
    package func leave(_ rest: some Sendable, at cursor: String) { left.withLock { $0 = (cursor, rest) } }
}
