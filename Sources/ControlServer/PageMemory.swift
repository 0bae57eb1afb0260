import Synchronization

/// The state that reading one page leaves for reading the next, for as long as one request lasts. A list that is read to its
/// end is scanned once, even if finding the start of a page is slow.
package final class PageMemory: Sendable {
    private let left = Mutex<(cursor: String, rest: any Sendable)?>(nil)

    package init() {}

    /// Returns the state left for the page that begins here, once; nil: begin anew.
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
