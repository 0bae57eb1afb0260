import NIOPosix

/// A thread for work that blocks, one piece after the other, so that it does not hold up tasks.
struct BlockingThread: Sendable {
    private let pool: NIOThreadPool

    init() {
        pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
    }

    func async(_ work: @escaping @Sendable () -> Void) {
        pool.submit { state in
            switch state {
            case .active: work()
            case .cancelled: preconditionFailure("the thread for blocking work is never stopped")
            }
        }
    }
}
