import NIOCore
import SyncCore

/// The way from other threads to the bulk loop. Nothing happens before the loop is there.
final class BulkInlet: Sendable {
    private let eventLoop: any EventLoop
    private let loop: NIOLoopBoundBox<BulkLoop?>

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        loop = .makeEmptyBox(valueType: BulkLoop.self, eventLoop: eventLoop)
    }

    /// Connects the inlet to its loop; on the loop, once.
    func connect(to loop: BulkLoop) { self.loop.value = loop }

    /// Hands the input over on a later turn of the loop, in the order of the calls of one thread.
    func tell(_ input: BulkInput) {
        eventLoop.execute { [loop] in loop.value?.step(input) }
    }

    func tell(_ inputs: [BulkInput]) {
        eventLoop.execute { [loop] in for input in inputs { loop.value?.step(input) } }
    }

    func tell(_ input: BulkInput, after amount: TimeAmount) {
        eventLoop.scheduleTask(in: amount) { [loop] in loop.value?.step(input) }
    }

    /// Hands the input over on the loop if `isDue` is true then.
    func tell(_ input: BulkInput, if isDue: @escaping @Sendable () -> Bool) {
        eventLoop.execute { [loop] in if isDue() { loop.value?.step(input) } }
    }
}
