import Dispatch
import Glibc
import SyncStore
import Synchronization
import Testing

/// Reads of tasks: on threads of their own, one after the other, until the queue is closed.
@Suite(.timeLimit(.minutes(40))) struct ReadQueueTests {
    /// A read that holds its thread until it is let go.
    private final class SlowRead: Sendable {
        /// Long: the tests beside this one may have both threads of the pool for minutes.
        private static let patienceSeconds = 1_200.0
        private let gate = DispatchSemaphore(value: 0)
        private let hasFailed = Atomic(false)

        /// True once a read was not let go in time; none is held from then on.
        var isOver: Bool { hasFailed.load(ordering: .relaxed) }

        /// Returns false if it was not let go in time.
        func hold() -> Bool {
            if !isOver, gate.wait(timeout: .now() + Self.patienceSeconds) == .success { return true }
            hasFailed.store(true, ordering: .relaxed)
            return false
        }

        func letGo() { gate.signal() }
    }

    private final class Order: Sendable {
        private let state = Mutex<[Int]>([])

        var numbers: [Int] { state.withLock(\.self) }

        func add(_ number: Int) { state.withLock { $0.append(number) } }
    }

    private func wait(for count: Int, in queue: ReadQueue) async {
        while queue.waitingCount != count, !Task.isCancelled { await Task.yield() }
    }

    /// Runs a read that returns true; false if it was refused as expected.
    private func isRead(
        by queue: ReadQueue, refusal expected: ReadQueue.Refusal? = nil, _ body: () -> Bool = { true },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Bool {
        do throws(ReadQueue.Refusal) {
            return try await queue.run({ () throws(ReadQueue.Refusal) in body() }, refused: { $0 })
        } catch {
            #expect(error == expected, sourceLocation: sourceLocation)
            return false
        }
    }

    @Test func `more slow reads than cooperative threads do not stop another task`() async {
        let (queue, slow) = (ReadQueue(threadCount: 2), SlowRead())
        let count = 2 + 4 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let wereAllLetGo = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask { await isRead(by: queue) { slow.hold() } }
            }
            // It runs only if the reads leave it a thread, and they end only if it runs.
            group.addTask {
                while queue.waitingCount != count - 2, !slow.isOver { await Task.yield() }
                for _ in 0..<count { slow.letGo() }
                return true
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(wereAllLetGo)
    }

    @Test func `reads are served in the order in which they came`() async {
        let (queue, slow) = (ReadQueue(threadCount: 1), SlowRead())
        let order = Order()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    _ = await isRead(by: queue) {
                        if number == 0 { #expect(slow.hold()) }
                        order.add(number)
                        return true
                    }
                }
                // The first has the thread, and each of the others its place, before the next one asks.
                if number > 0 { await wait(for: number, in: queue) } else { await occupied(queue) }
            }
            slow.letGo()
        }
        #expect(order.numbers == Array(0..<20))
    }

    @Test func `a cancelled read gives up its place, and the others keep theirs`() async {
        let (queue, slow) = (ReadQueue(threadCount: 1), SlowRead())
        let first = Task { await isRead(by: queue) { slow.hold() } }
        await occupied(queue)
        let second = Task { await isRead(by: queue, refusal: .cancelled) }
        await wait(for: 1, in: queue)
        let third = Task { await isRead(by: queue) }
        await wait(for: 2, in: queue)
        second.cancel()
        #expect(await second.value == false)
        #expect(queue.waitingCount == 1)
        slow.letGo()
        #expect(await first.value)
        #expect(await third.value)
    }

    @Test func `closing refuses the reads that wait and those that come later`() async {
        let (queue, slow) = (ReadQueue(threadCount: 1), SlowRead())
        let running = Task { await isRead(by: queue) { slow.hold() } }
        await occupied(queue)
        let waiting = (0..<3).map { _ in Task { await isRead(by: queue, refusal: .closed) } }
        await wait(for: 3, in: queue)
        queue.close()
        for read in waiting { #expect(await read.value == false) }
        #expect(await isRead(by: queue, refusal: .closed) == false)
        slow.letGo()
        #expect(await running.value, "a read that has begun ends by itself")
    }

    /// Returns once all threads have a read.
    private func occupied(_ queue: ReadQueue) async {
        while queue.freeCount > 0, !Task.isCancelled { await Task.yield() }
    }
}
