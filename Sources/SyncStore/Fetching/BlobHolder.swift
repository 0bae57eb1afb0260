package import SyncModel

/// A device that said that it holds all of a blob.
package struct BlobHolder: Hashable, Sendable {
    package let device: DeviceID
    /// This node's clock when it said so, as fine as `resolutionMilliseconds`.
    package let notedMilliseconds: Int64

    /// The time within which a repeated claim is not recorded again: each record costs a synced transaction.
    package static let resolutionMilliseconds: Int64 = 10 * 60_000

    package init(device: DeviceID, notedMilliseconds: Int64) {
        self.device = device
        self.notedMilliseconds = notedMilliseconds
    }

    /// True if a claim at this time is worth a record after the earlier one, `noted`; nil: there is none. A clock that was
    /// put back begins anew.
    static func isNews(at milliseconds: Int64, behind noted: Int64?) -> Bool {
        guard let noted else { return true }
        return milliseconds < noted || milliseconds - noted >= resolutionMilliseconds
    }
}
