import ControlAPI
import Glibc
import Synchronization

/// The one line on a terminal that says how far something is: redrawn at most four times a second, gone at the end. Without
/// a terminal it is silent.
final class ProgressDisplay: Sendable {
    private static let pauseSeconds = 0.25

    private struct State {
        var meter = RateMeter()
        var lastShown = -1.0
        var isShown = false
        var doneBytes: UInt64 = 0

        mutating func isDue(at now: Double) -> Bool {
            guard now - lastShown >= ProgressDisplay.pauseSeconds else { return false }
            (lastShown, isShown) = (now, true)
            return true
        }
    }

    private let title: String
    /// The bytes in all; nil if unknown before the end.
    private let totalBytes: UInt64?
    private let isOn: Bool
    private let state = Mutex(State())

    /// - Parameter isOn: whether it is wanted; it is only shown on a terminal.
    init(_ title: String, of totalBytes: UInt64?, isOn: Bool) {
        self.title = shown(title)
        self.totalBytes = totalBytes
        self.isOn = isOn && StandardError.isTerminal
    }

    /// Adds bytes that are done.
    func add(_ bytes: Int) {
        guard isOn else { return }
        let now = Self.seconds
        let text = state.withLock { state -> String? in
            state.doneBytes += UInt64(bytes)
            guard state.isDue(at: now) else { return nil }
            state.meter.record(state.doneBytes, at: now)
            return ProgressText.text(
                title,
                ByteProgress(
                    doneBytes: state.doneBytes, totalBytes: totalBytes ?? 0, bytesPerSecond: state.meter.bytesPerSecond)
            )
        }
        if let text { show(text) }
    }

    /// Shows progress that another component measured.
    func tell(_ progress: ByteProgress) {
        guard isOn, state.withLock({ $0.isDue(at: Self.seconds) }) else { return }
        show(ProgressText.text(title, progress))
    }

    /// Takes the line away.
    func end() {
        if state.withLock(\.isShown) { StandardError.progress("") }
    }

    /// A line that is longer than the terminal is wide could not be drawn over.
    private func show(_ text: String) {
        StandardError.progress(String(text.prefix((StandardError.width ?? 80) - 1)))
    }

    private static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
