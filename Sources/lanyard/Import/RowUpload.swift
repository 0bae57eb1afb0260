import ControlAPI
import Synchronization

/// The objects of a file as lines for the agent. Each stands in the line in which its row begins in the file, with empty lines in
/// between, so the line that the agent refuses is the one to look at.
///
/// It ends at the first row that is bad, so that the agent answers how many it wrote before.
struct RowUpload: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    /// The state that is left when it has ended, for a reader outside.
    final class Outcome: Sendable {
        private struct State {
            var fault: ControlError?
            var unnamed = 0
        }

        private let state = Mutex(State())

        /// The bad row at which it ended.
        var fault: ControlError? { state.withLock(\.fault) }
        /// The number of objects without an id so far.
        var unnamed: Int { state.withLock(\.unnamed) }

        fileprivate func end(_ fault: ControlError) { state.withLock { $0.fault = fault } }
        fileprivate func add(unnamed count: Int) { state.withLock { $0.unnamed += count } }
    }

    let source: RowSource
    let outcome = Outcome()

    func makeAsyncIterator() -> Iterator { Iterator(cursor: source.makeCursor(), outcome: outcome) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var cursor: RowSource.Cursor
        fileprivate let outcome: Outcome
        /// The number of lines so far.
        private var lines = 0

        fileprivate init(cursor: RowSource.Cursor, outcome: Outcome) {
            self.cursor = cursor
            self.outcome = outcome
        }

        mutating func next() async -> [UInt8]? {
            do throws(ControlError) {
                while let objects = try await cursor.next() {
                    if !objects.isEmpty { return text(of: objects) }
                }
            } catch {
                outcome.end(error)
            }
            return nil
        }

        private mutating func text(of objects: [NumberedObject]) -> [UInt8] {
            var bytes: [UInt8] = []
            for object in objects {
                bytes.append(contentsOf: repeatElement(0x0A, count: object.line - 1 - lines))
                bytes += object.put.line
                lines = object.line
            }
            outcome.add(unnamed: objects.count { $0.put.id == nil })
            return bytes
        }
    }
}
