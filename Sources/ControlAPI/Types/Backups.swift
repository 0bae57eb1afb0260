/// The backups that an agent makes by itself: request of `PUT /v1/backups`.
public struct BackupPlanEntry: Codable, Equatable, Sendable {
    /// The absolute path of a folder that is there.
    public var directory: String
    /// The time from one backup to the next, in seconds.
    public var everySeconds: Int
    /// The number of backups that are kept; older ones go once a newer one was found good.
    public var keep: Int

    /// All fields.
    public init(directory: String, everySeconds: Int, keep: Int) {
        self.directory = directory
        self.everySeconds = everySeconds
        self.keep = keep
    }
}

/// Answer of `/v1/backups`, and a part of the status: the plan, and what became of it.
public struct BackupsResponse: Codable, Equatable, Sendable {
    /// A backup that was read back after it was written, and found whole.
    public struct Good: Codable, Equatable, Sendable {
        /// The path of the file.
        public var file: String
        /// The size of the file.
        public var bytes: UInt64
        /// The moment that it holds.
        public var time: Timestamp

        /// All fields.
        public init(file: String, bytes: UInt64, time: Timestamp) {
            self.file = file
            self.bytes = bytes
            self.time = time
        }
    }

    /// A try that came to nothing.
    public struct Failure: Codable, Equatable, Sendable {
        /// The stable code that programs compare.
        public var code: String
        /// The event that caused the failure.
        public var message: String
        /// The next thing to do.
        public var hint: String
        /// The time of the try.
        public var time: Timestamp

        /// All fields.
        public init(code: String, message: String, hint: String, time: Timestamp) {
            self.code = code
            self.message = message
            self.hint = hint
            self.time = time
        }
    }

    /// The plan; null if the agent makes none by itself.
    public var plan: BackupPlanEntry?
    /// True if the plan stands in the agent's configuration, where commands do not change it.
    public var configured: Bool
    /// True while one is being made.
    public var running: Bool
    /// The newest good one; null before the first.
    public var lastGood: Good?
    /// The failure of the last try; null if that was good.
    public var lastFailure: Failure?
    /// The time of the next try; null without a plan.
    public var next: Timestamp?

    /// All fields.
    public init(
        plan: BackupPlanEntry?, configured: Bool = false, running: Bool = false, lastGood: Good? = nil,
        lastFailure: Failure? = nil, next: Timestamp? = nil
    ) {
        self.plan = plan
        self.configured = configured
        self.running = running
        self.lastGood = lastGood
        self.lastFailure = lastFailure
        self.next = next
    }
}
