import SyncModel

/// The row of one blob in the database.
struct BlobRow: Sendable {
    enum Place: Int64, Sendable {
        /// Whole, in `small_blob`.
        case database = 0
        /// Whole, in a file with its name.
        case file = 1
        /// Some of it, in a file that says so. To `file` when it is complete; from `file` when it is found damaged.
        case partial = 2
    }

    /// `blob.id`.
    let id: Int64
    let blob: BlobName
    let place: Place
    /// Milliseconds since 1970.
    let touched: Int64

    var layout: BlobLayout { blob.layout }

    var isWhole: Bool { place != .partial }
}
