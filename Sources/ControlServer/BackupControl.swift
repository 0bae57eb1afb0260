package import ControlAPI
package import NIOCore

/// The interface of an agent for backups; the rules of `AgentControl` hold here too.
package protocol BackupControl: Sendable {
    /// Begins a backup of the agent as it is at this moment, while it goes on. Throws `limit_reached` while another is being
    /// made, `disk_full` where the copy of the database has no room. Ends early with its task.
    func beginBackup() async throws(ControlError) -> any BackupReading
}

/// A backup on its way out. Calls come one after the other.
package protocol BackupReading: Sendable {
    var header: BackupHeader { get }

    /// The next of it; nil behind the last. Throws where the database cannot be read; a blob that cannot is left out.
    func next() async throws(ControlError) -> BackupStep?

    /// The blobs that were left out, by their hashes; all of them are known behind the last step.
    var leftOut: [String] { get }

    /// Gives the room of the copy back; also done when the last reference goes.
    func close()
}

/// A part of a backup.
package enum BackupStep: Sendable {
    /// A file begins; its bytes follow, as many as it says.
    case file(TarEntry)
    case bytes(ByteBuffer)
}
