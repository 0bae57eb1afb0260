package import SyncModel

/// A device that said that it holds all of a blob.
package struct BlobHolder: Hashable, Sendable {
    package let device: DeviceID
    /// This node's clock when it said so, as fine as `resolutionMilliseconds`.
    package let notedMilliseconds: Int64

    /// What is said again within this time is not noted again: it would cost a synced transaction each time.
    package static let resolutionMilliseconds: Int64 = 10 * 60_000

    package init(device: DeviceID, notedMilliseconds: Int64) {
        self.device = device
        self.notedMilliseconds = notedMilliseconds
    }

    /// Whether something said then is worth a note behind one of `noted`; nil: there is none. A clock that was put back
    /// begins anew.
    static func isNews(at milliseconds: Int64, behind noted: Int64?) -> Bool {
        guard let noted else { return true }
        return milliseconds < noted || milliseconds - noted >= resolutionMilliseconds
    }
}
