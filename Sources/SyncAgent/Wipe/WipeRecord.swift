import Foundation
package import SyncModel
import SyncStore

/// The note that a wipe leaves in the data directory: which statement asked for it, and when it was done.
package struct WipeRecord: Sendable, Hashable, Codable {
    /// The revocation, as `REPLICA:COUNTER`.
    package var statement: String
    /// The id of the device that wrote it.
    package var author: String
    /// The name of that device, as it was known here.
    package var authorName: String
    /// The clock of this device, milliseconds since 1970.
    package var milliseconds: Int64
    /// The statements that were carried out here before, the newest last; at most `mostEarlier`.
    package private(set) var earlier: [String] = []

    private static let mostEarlier = 64

    package init(statement: Dot, authorName: String, milliseconds: Int64) {
        self.statement = "\(statement.replica):\(statement.counter)"
        author = "\(statement.replica.device)"
        self.authorName = authorName
        self.milliseconds = milliseconds
    }

    /// Returns the record with the statements of an earlier one; nil if its statement was carried out already. A device that was
    /// admitted again learns of the old statement with all that the space holds.
    func following(_ last: WipeRecord?) -> WipeRecord? {
        guard let last else { return self }
        let done = last.earlier + [last.statement]
        guard !done.contains(statement) else { return nil }
        var record = self
        record.earlier = Array(done.suffix(Self.mostEarlier))
        return record
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
