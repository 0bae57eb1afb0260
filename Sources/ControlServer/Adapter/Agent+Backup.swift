package import ControlAPI
import NIOCore
package import SyncAgent
import SyncModel
import SyncStore
import SyncTransport

extension Agent {
    /// Begins a backup of the agent as it is at this moment, while it goes on. Throws `limit_reached` while another is being
    /// made, `disk_full` where the copy of the database has no room. Ends early with its task.
    package func backup() async throws(ControlError) -> OutgoingBackup {
        let name = try await controlled { try await snapshot() }.name
        let backup: AgentBackup?
        do { backup = try await beginBackup() } catch let error as BlobError {
            throw refusal(error)
        } catch let error as IdentityError {
            throw ControlError(.storeFailed, error.message, hint: "\(error.hint) Then make the backup again.")
        } catch {
            throw ControlError(agent: error, directory: configuration.dataDirectory)
        }
        guard let backup else {
            throw ControlError(
                .limitReached, "Another backup is being made.", hint: "Wait until it is done, or stop it.")
        }
        return OutgoingBackup(
            agent: self, backup: backup,
            header: BackupHeader(
                schema: backup.schemaVersion, version: version,
                device: .init(id: "\(device)", shortID: device.shortID, name: name),
                time: Timestamp(millisecondsSinceEpoch: WallClock.milliseconds),
                estimatedBytes: backup.estimatedBytes))
    }
}

/// A backup on its way out. Calls come one after the other.
package struct OutgoingBackup: Sendable {
    fileprivate let agent: Agent
    fileprivate let backup: AgentBackup
    package let header: BackupHeader

    /// The blobs that were left out, by their hashes; all of them are known behind the last step.
    package var leftOut: [String] { backup.leftOut.map(\.hash.bytes.hexadecimal) }

    /// Gives the room of the copy back; also done when the last reference goes.
    package func close() { backup.close() }

    /// Returns the next step; nil behind the last. Throws where the database cannot be read; a blob that cannot is left out.
    package func next() async throws(ControlError) -> BackupStep? {
        let step: AgentBackup.Step?
        do throws(BlobError) { step = try await backup.next() } catch { throw agent.refusal(error) }
        switch step {
        case nil: return nil
        case .identity(let size)?: return .file(TarEntry(BackupFormat.identity, size: UInt64(size)))
        case .blob(let blob)?:
            return .file(TarEntry(BackupFormat.blob(blob.hash.bytes.hexadecimal), size: blob.size))
        case .database(let size)?: return .file(TarEntry(BackupFormat.database, size: size))
        case .bytes(let bytes)?: return .bytes(bytes)
        }
    }
}
