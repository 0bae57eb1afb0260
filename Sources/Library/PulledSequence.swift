import Synchronization

/// A sequence whose elements are made only as fast as they are asked for.
///
/// The producer is called at the first `next()`, in a task of its own. It is suspended behind each element until the next one is
/// asked for: until then the loop's body has not finished with it. Ending the loop, dropping the iterator or cancelling the
/// consuming task cancels the producer, and with it its request to the agent. A sequence may be iterated several times; each
/// iteration is a request of its own.
public struct PulledSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// Takes one element, and returns when the next is asked for.
    package typealias Give = @Sendable (Element) async throws -> Void

    private let produce: @Sendable (Give) async throws -> Void

    package init(_ produce: @escaping @Sendable (Give) async throws -> Void) { self.produce = produce }

    /// Begins an iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(source: Source(produce)) }

    /// An iteration; not to be used by two tasks at once.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// Returns the next element; nil at the end, and when the task is cancelled. Throws what ended the sequence.
        public mutating func next() async throws -> Element? { try await source.next() }
    }

    /// The producer's task for as long as the iterator is there.
    fileprivate final class Source: Sendable {
        private let handover = Handover<Element>()
        private let produce: @Sendable (Give) async throws -> Void
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ produce: @escaping @Sendable (Give) async throws -> Void) { self.produce = produce }

        deinit {
            handover.cancel()
            task.withLock { $0?.cancel() }
        }

        func next() async throws -> Element? {
            start()
            return try await withTaskCancellationHandler {
                try await handover.take()
            } onCancel: {
                handover.cancel()
                task.withLock { $0?.cancel() }
            }
        }

        private func start() {
            task.withLock { task in
                guard task == nil else { return }
                task = Task { [handover, produce] in
                    do {
                        try await produce { try await handover.give($0) }
                        handover.finish(.success(()))
                    } catch {
                        handover.finish(.failure(error))
                    }
                }
            }
        }
    }
}

/// The place where a producer and a consumer meet: at most one element is under way.
private final class Handover<Element: Sendable>: Sendable {
    private struct State {
        /// The consumer that waits for an element.
        var taker: CheckedContinuation<Element?, any Error>?
        /// The producer with an element that was not asked for yet.
        var offer: (element: Element, giver: CheckedContinuation<Void, any Error>)?
        /// The producer whose element the consumer has.
        var giver: CheckedContinuation<Void, any Error>?
        /// The end of the production; a failure is thrown once.
        var end: Result<Void, any Error>?
    }

    private let state = Mutex(State())

    /// Hands over an element, and returns when the next one is asked for. Throws `CancellationError` when none will be.
    func give(_ element: Element) async throws {
        try await withCheckedThrowingContinuation { (giver: CheckedContinuation<Void, any Error>) in
            state.withLock { state in
                if state.end != nil {
                    giver.resume(throwing: CancellationError())
                } else if let taker = state.taker.take() {
                    state.giver = giver
                    taker.resume(returning: element)
                } else {
                    state.offer = (element, giver)
                }
            }
        }
    }

    func take() async throws -> Element? {
        try await withCheckedThrowingContinuation { taker in
            state.withLock { state in
                state.giver.take()?.resume()
                if let (element, giver) = state.offer.take() {
                    state.giver = giver
                    taker.resume(returning: element)
                } else if let end = state.end {
                    state.end = .success(())
                    taker.resume(with: end.map { nil })
                } else {
                    state.taker = taker
                }
            }
        }
    }

    func finish(_ end: Result<Void, any Error>) {
        state.withLock { state in
            guard state.end == nil else { return }
            if let taker = state.taker.take() {
                state.end = .success(())
                taker.resume(with: end.map { nil })
            } else {
                state.end = end
            }
        }
    }

    /// Ends the sequence for both sides.
    func cancel() {
        finish(.success(()))
        state.withLock { state in
            state.giver.take()?.resume(throwing: CancellationError())
            state.offer.take()?.giver.resume(throwing: CancellationError())
        }
    }
}
