package import ControlAPI

/// The rate of progress over the last few seconds: an average since the start would not show that it stopped.
package struct RateMeter {
    private static let windowSeconds = 4.0
    private var samples: [(seconds: Double, bytes: UInt64)] = []

    package init() {}

    /// Records how far it is at a time of some clock that never goes back.
    package mutating func record(_ bytes: UInt64, at seconds: Double) {
        samples.append((seconds, bytes))
        // One older than the window stays, to measure all of the window.
        let firstInside = samples.firstIndex { seconds - $0.seconds <= Self.windowSeconds } ?? 0
        samples.removeFirst(max(0, firstInside - 1))
    }

    /// 0 while there is nothing to go by.
    package var bytesPerSecond: UInt64 {
        guard let first = samples.first, let last = samples.last, last.seconds - first.seconds >= 0.1,
            last.bytes > first.bytes
        else { return 0 }
        return UInt64(Double(last.bytes - first.bytes) / (last.seconds - first.seconds))
    }
}

/// `photo.jpg  12 %  120 MiB of 1.0 GiB  11 MiB/s  1 min left`.
package enum ProgressText {
    package static func text(_ title: String, _ progress: ByteProgress) -> String {
        var parts = title.isEmpty ? [] : [title]
        let done = ByteAmount.text(progress.doneBytes)
        if progress.totalBytes > 0 {
            let percent = Int(Double(min(progress.doneBytes, progress.totalBytes)) / Double(progress.totalBytes) * 100)
            parts += ["\(percent) %", "\(done) of \(ByteAmount.text(progress.totalBytes))"]
        } else {
            parts.append(done)
        }
        if progress.bytesPerSecond > 0 {
            parts.append("\(ByteAmount.text(progress.bytesPerSecond))/s")
            if progress.totalBytes > 0, let left = progress.secondsLeft {
                parts.append("\(TimeText.length(seconds: Int(clamping: left))) left")
            }
        }
        return parts.joined(separator: "  ")
    }
}
