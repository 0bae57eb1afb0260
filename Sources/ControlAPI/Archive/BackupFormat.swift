/// The names of the files in a backup; Sources/PROTOCOL.md describes the format.
package enum BackupFormat {
    /// The version that is written; older ones are read.
    package static let version = 1
    /// The newest schema of the database that this program's agent opens. A test compares it with the store's.
    package static let schemaVersion = 25

    package static let header = "backup.json"
    package static let identity = "identity.pem"
    package static let database = "lanyard.sqlite"
    package static let checksum = "checksum.json"
    package static let blobFolder = "blobs"

    /// A blob in a file of its own, by the 64 hexadecimal digits of its hash.
    package static func blob(_ hash: String) -> String { "\(blobFolder)/\(hash)" }

    /// The hash that a name stands for; nil for what is no name of a blob.
    package static func hash(ofBlob name: String) -> String? {
        let prefix = blobFolder + "/"
        guard name.hasPrefix(prefix) else { return nil }
        let digits = name.utf8.dropFirst(prefix.utf8.count)
        guard digits.count == 64,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) })
        else { return nil }
        return String(decoding: Array(digits), as: UTF8.self)
    }
}

/// The first file of a backup: what it is of.
package struct BackupHeader: Codable, Equatable, Sendable {
    /// The device whose identity is inside.
    package struct Device: Codable, Equatable, Sendable {
        /// All of it.
        package let id: String
        /// The first 7 characters.
        package let shortID: String
        /// The name people gave it.
        package let name: String

        /// A device.
        package init(id: String, shortID: String, name: String) {
            self.id = id
            self.shortID = shortID
            self.name = name
        }
    }

    /// The version of the format.
    package let lanyardBackup: Int
    /// The version of the database's schema.
    package let schema: Int
    /// The program that wrote it.
    package let version: String
    /// The device that made the backup.
    package let device: Device
    /// The time at which the backup was made.
    package let time: Timestamp
    /// The approximate length of the backup in bytes, to show progress.
    package let estimatedBytes: UInt64

    /// A header.
    package init(
        lanyardBackup: Int = BackupFormat.version, schema: Int = BackupFormat.schemaVersion,
        version: String = LanyardVersion.current, device: Device, time: Timestamp, estimatedBytes: UInt64
    ) {
        self.lanyardBackup = lanyardBackup
        self.schema = schema
        self.version = version
        self.device = device
        self.time = time
        self.estimatedBytes = estimatedBytes
    }
}

/// The last file of a backup: what must be before it.
package struct BackupChecksum: Codable, Equatable, Sendable {
    /// The number of bytes before the header of this file.
    package let bytes: UInt64
    /// The SHA-256 of those bytes, in hexadecimal.
    package let sha256: String
    /// Blobs that could not be read to their end. What is inside under their names, if anything, is not them; the database
    /// says that they are missing.
    package let leftOut: [String]

    package init(bytes: UInt64, sha256: String, leftOut: [String]) {
        self.bytes = bytes
        self.sha256 = sha256
        self.leftOut = leftOut
    }
}
