package import SyncCore
package import SyncModel

/// One thing that must hold in every run. Checkers hear what happened; each keeps its own slow, obvious model of it.
package protocol Checker {
    static var name: String { get }

    /// A transaction became durable at a node; `before` is what it held until then.
    mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String?
    /// The agent answered a local write.
    mutating func acknowledged(node: Int, _ segments: [VerifiedSegment]) -> String?
    /// A frame is about to leave a node that durably holds `durable`.
    mutating func sending(node: Int, _ frame: Frame, durable: VersionVector) -> String?
    /// A disk went back to an older state: `now` is what it holds, `elsewhere` what the other disks hold.
    mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String?
    /// After every step of a node's core.
    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String?
    /// The world has healed and come to rest (or has not in time).
    mutating func ended(_ ending: WorldEnding) -> String?
}

extension Checker {
    package mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String? { nil }
    package mutating func acknowledged(node: Int, _ segments: [VerifiedSegment]) -> String? { nil }
    package mutating func sending(node: Int, _ frame: Frame, durable: VersionVector) -> String? { nil }
    package mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String? { nil }
    package mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? { nil }
    package mutating func ended(_ ending: WorldEnding) -> String? { nil }
}

/// What is left when a run is over.
package struct WorldEnding: Sendable {
    package var nodes: [Node]
    /// Simulated time from the heal until all were in step; nil if they never were.
    package var healedAfterNanoseconds: Int64?

    package struct Node: Sendable {
        package var number: Int
        package var durable: VersionVector
        package var vectorDigest: Sum256
        package var stateDigest: Sum256
        package var recomputedDigest: Sum256
        package var isInStep: Bool
        package var connected: Int
    }
}
