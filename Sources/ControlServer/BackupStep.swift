package import ControlAPI
package import NIOCore

/// A part of a backup.
package enum BackupStep: Sendable {
    /// A file begins; its bytes follow, as many as it says.
    case file(TarEntry)
    case bytes(ByteBuffer)
}
