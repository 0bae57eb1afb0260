/// The outcome of the backups of a plan so far; times are milliseconds since 1970.
package struct BackupRecord: Sendable, Hashable, Codable {
    /// A backup that was read back and found whole.
    package struct Good: Sendable, Hashable, Codable {
        package var file: String
        package var bytes: UInt64
        package var milliseconds: Int64

        package init(file: String, bytes: UInt64, milliseconds: Int64) {
            self.file = file
            self.bytes = bytes
            self.milliseconds = milliseconds
        }
    }

    /// A try that came to nothing.
    package struct Failure: Sendable, Hashable, Codable {
        package var code: String
        package var message: String
        package var hint: String
        package var milliseconds: Int64

        package init(code: String, message: String, hint: String, milliseconds: Int64) {
            self.code = code
            self.message = message
            self.hint = hint
            self.milliseconds = milliseconds
        }
    }

    /// The time at which the plan began.
    package var since: Int64
    package var lastGood: Good?
    /// The failure of the last try; nil if that was good.
    package var lastFailure: Failure?
    /// The number of tries since the last good one.
    package var failures = 0

    package init(since: Int64) { self.since = since }

    /// Returns the time of the next try. One that failed is made again after a minute, then two, four …, at most an hour, and never
    /// later than the next backup would be due anyway.
    package func due(_ plan: BackupPlan, now: Int64) -> Int64 {
        let every = plan.everySeconds * 1_000
        if let lastFailure {
            let pause = min(every, 60_000 << Int64(min(max(0, failures - 1), 6)), 3_600_000)
            // The clock was set back: nothing is known of how long ago it was.
            return lastFailure.milliseconds > now + Self.clockSlack ? now : lastFailure.milliseconds + pause
        }
        guard let lastGood else { return now }
        // The clock was set back: nothing is known of how old it is.
        return lastGood.milliseconds > now + Self.clockSlack ? now : lastGood.milliseconds + every
    }

    /// True if the newest good one is older than two intervals, or there is none after that time.
    package func isOverdue(_ plan: BackupPlan, now: Int64) -> Bool {
        let newest = lastGood?.milliseconds ?? since
        // Behind a clock that was set back only the tries tell.
        guard newest <= now + Self.clockSlack else { return failures > 0 }
        return now - newest > 2 * plan.everySeconds * 1_000
    }

    /// Milliseconds by which a clock may be set back as usual, by a time server.
    private static let clockSlack: Int64 = 60_000
}
