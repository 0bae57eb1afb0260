import Foundation
package import SyncModel
import SyncStore

/// What is kept of a wipe in the data directory: which statement asked for it, and when it was done.
package struct WipeRecord: Sendable, Hashable, Codable {
    /// The revocation, as `REPLICA:COUNTER`.
    package var statement: String
    /// The id of the device that wrote it.
    package var author: String
    /// The name of that device, as it was known here.
    package var authorName: String
    /// The clock of this device, milliseconds since 1970.
    package var milliseconds: Int64

    package init(statement: Dot, authorName: String, milliseconds: Int64) {
        self.statement = "\(statement.replica):\(statement.counter)"
        author = "\(statement.replica.device)"
        self.authorName = authorName
        self.milliseconds = milliseconds
    }

    /// Nil if nothing was wiped there, or the record cannot be read.
    static func read(in directory: String) -> WipeRecord? {
        FileManager.default.contents(atPath: directory + "/" + StoreWipe.record)
            .flatMap { try? JSONDecoder().decode(WipeRecord.self, from: $0) }
    }

    var encoded: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? Array("{}".utf8)
    }
}
