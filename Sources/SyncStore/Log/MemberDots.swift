package import SyncModel

/// The operations that named a device a member: some rules ask whether the author of an operation knew of one.
///
/// Bounds: one dot per add-fact held.
package struct MemberDots: Sendable, Equatable {
    private var dots: [DeviceID: [Dot]] = [:]

    package init() {}

    package mutating func add(_ dot: Dot, naming device: DeviceID) { dots[device, default: []].append(dot) }

    /// True if the causal past of an operation holds an add-fact for `device`.
    package func isMember(_ device: DeviceID, to origin: Origin) -> Bool {
        dots[device]?.contains { origin.knows($0) } ?? false
    }
}
