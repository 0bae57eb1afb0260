import Dispatch

/// A thread for work that blocks, one piece after the other, so that it does not hold up tasks.
struct BlockingThread: Sendable {
    private let queue = DispatchQueue(label: "lanyard.blocking")

    func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
