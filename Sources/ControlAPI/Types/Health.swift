/// A check of `lanyard doctor`.
public struct DoctorCheck: Codable, Equatable, Sendable {
    /// The outcome of a check.
    public enum State: String, Codable, Sendable {
        /// The check found no fault.
        case ok
        /// The node works, but an operator should look.
        case warning
        /// The check found a fault.
        case failed
        /// The check could not be made now; `detail` says why.
        case skipped
    }

    /// A stable name, such as `agent` or `free_space`.
    public var check: String
    /// The outcome.
    public var state: State
    /// The observation.
    public var detail: String
    /// The next thing to do; empty when `ok`.
    public var hint: String

    /// All fields.
    public init(check: String, state: State, detail: String, hint: String = "") {
        self.check = check
        self.state = state
        self.detail = detail
        self.hint = hint
    }
}

/// Answer of `lanyard wait`. After the time given, `inStep` is false; that is no error over HTTP.
public struct WaitResponse: Codable, Equatable, Sendable {
    /// True if this node holds all that it should, and the devices that count lack nothing of it.
    public var inStep: Bool
    /// The time it took, in seconds.
    public var waitedSeconds: Double
    /// Devices that lack something, or have not said what they hold. Empty where only this node is missing something.
    public var waitingFor: [DeviceStanding]
    /// True while changes that this device wrote while it was retired, or before it took a history back, are written again; they
    /// may be missing for a moment.
    public var writingAgain: Bool

    /// All fields.
    public init(
        inStep: Bool, waitedSeconds: Double, waitingFor: [DeviceStanding] = [], writingAgain: Bool = false
    ) {
        self.inStep = inStep
        self.waitedSeconds = waitedSeconds
        self.waitingFor = waitingFor
        self.writingAgain = writingAgain
    }
}

/// Answer of `GET /v1/durability`. After the time given, `reached` is false; that is no error over HTTP.
public struct DurabilityResponse: Codable, Equatable, Sendable {
    /// True if as many devices as asked for have it.
    public var reached: Bool
    /// The ids of the devices that have said that it is on their disks; this one's first.
    public var devices: [String]
    /// The time it took, in seconds.
    public var waitedSeconds: Double

    /// All fields.
    public init(reached: Bool, devices: [String], waitedSeconds: Double) {
        self.reached = reached
        self.devices = devices
        self.waitedSeconds = waitedSeconds
    }
}

/// Answer of `GET /readyz`: whether the agent can do work.
public struct Readiness: Codable, Equatable, Sendable {
    /// Store writable and listener up. An mDNS daemon that is away does not make an agent unready: it is in `discovery`.
    public var ready: Bool
    /// The parts that are not ready; empty when ready.
    public var waitingFor: [String]
    /// State of discovery.
    public var discovery: StatusResponse.Discovery.State

    /// All fields.
    public init(ready: Bool, waitingFor: [String] = [], discovery: StatusResponse.Discovery.State) {
        self.ready = ready
        self.waitingFor = waitingFor
        self.discovery = discovery
    }
}

/// Answer of `GET /healthz`: the process runs and answers.
public struct Health: Codable, Equatable, Sendable {
    /// The state; always `ok`.
    public var state: String

    /// The only value there is.
    public init() { state = "ok" }
}

/// Answer of `POST /v1/configuration/reload`.
public struct ReloadResponse: Codable, Equatable, Sendable {
    /// The settings that count now, in the order in which the manual has them.
    public var taken: [SettingChange]
    /// The settings that differ from what the agent runs with, and count from its next start on.
    public var needsRestart: [SettingChange]
    /// The settings that could not be taken over; what was before goes on.
    public var failed: [SettingFailure]
    /// The file that was read; null: there is none.
    public var file: String?
    /// The places of such a file, of which the first that is there is read.
    public var filePlaces: [String]

    /// All fields.
    public init(
        taken: [SettingChange], needsRestart: [SettingChange], failed: [SettingFailure] = [], file: String? = nil,
        filePlaces: [String] = []
    ) {
        self.taken = taken
        self.needsRestart = needsRestart
        self.failed = failed
        self.file = file
        self.filePlaces = filePlaces
    }

    /// Also the answer of an agent that was not started again since an upgrade.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        taken = try container.decode([SettingChange].self, forKey: .taken)
        needsRestart = try container.decode([SettingChange].self, forKey: .needsRestart)
        failed = try container.decodeIfPresent([SettingFailure].self, forKey: .failed) ?? []
        file = try container.decodeIfPresent(String.self, forKey: .file)
        filePlaces = try container.decodeIfPresent([String].self, forKey: .filePlaces) ?? []
    }
}

/// A setting of the agent that could not be taken over.
public struct SettingFailure: Codable, Equatable, Sendable {
    /// The name of the setting: a key of the configuration file.
    public var setting: String
    /// The value that the agent goes on with; null: it was not set.
    public var before: String?
    /// The value that the configuration has by now.
    public var after: String?
    /// The reason, as a sentence.
    public var message: String
    /// The next step.
    public var hint: String

    /// All fields.
    public init(setting: String, before: String? = nil, after: String? = nil, message: String, hint: String) {
        self.setting = setting
        self.before = before
        self.after = after
        self.message = message
        self.hint = hint
    }
}

/// A setting of the agent that changed, or is to change.
public struct SettingChange: Codable, Equatable, Sendable {
    /// The name of the setting: a key of the configuration file.
    public var setting: String
    /// The value before; null: it was not set.
    public var before: String?
    /// The value that the configuration has by now; null: it is not set.
    public var after: String?

    /// All fields.
    public init(setting: String, before: String? = nil, after: String? = nil) {
        self.setting = setting
        self.before = before
        self.after = after
    }
}

/// Answer of `GET /v1/configuration`.
public struct ConfigurationResponse: Codable, Equatable, Sendable {
    /// The configuration that the agent runs with, as a file that would give it again (`lanyardd.toml`).
    public var toml: String

    /// The one field.
    public init(toml: String) { self.toml = toml }
}
