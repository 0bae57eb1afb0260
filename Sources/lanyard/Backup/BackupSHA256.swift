import ControlAPI
import Crypto

/// The hash that backups are checked with.
struct BackupSHA256: BackupHash {
    private var hash = SHA256()

    mutating func update(_ bytes: [UInt8]) { hash.update(data: bytes) }

    var hexadecimal: String { Hexadecimal.text(hash.finalize()) }
}
