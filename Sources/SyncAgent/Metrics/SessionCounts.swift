package import SyncModel

/// The sessions since the agent started, by device and by the reason for which they ended.
///
/// Bounds: one entry for each device that had a session, which only members have; reasons come from our own enums.
package struct SessionCounts: Sendable, Equatable {
    private static let reasonLimit = 256

    package private(set) var begun: [DeviceID: Int] = [:]
    package private(set) var endedByReason: [String: Int] = [:]
    /// Sessions that followed another one with the same device, by the reason for which that one ended.
    package private(set) var resumedByReason: [String: Int] = [:]
    private var lastReason: [DeviceID: String] = [:]

    package init() {}

    mutating func began(with device: DeviceID) {
        begun[device, default: 0] += 1
        if let reason = lastReason.removeValue(forKey: device) { Self.count(reason, in: &resumedByReason) }
    }

    mutating func ended(with device: DeviceID, code: String) {
        Self.count(code, in: &endedByReason)
        lastReason[device] = code
    }

    private static func count(_ reason: String, in counts: inout [String: Int]) {
        guard counts[reason] != nil || counts.count < reasonLimit else { return }
        counts[reason, default: 0] += 1
    }
}
