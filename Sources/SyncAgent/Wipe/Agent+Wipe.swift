import Logging
package import SyncModel
import SyncStore

// A device that is told to delete what it holds of the space.
extension Agent {
    /// Deletes all that this device holds of the space, for good, but for the device's keys, and ends the agent: started again, it
    /// is in a home of its own, and joins others only by a new invitation.
    ///
    /// From the moment the marker is written (`StoreWipe`) it is done, whatever becomes of the process: what is left then is
    /// deleted at the next start. Asked for again while it runs, it does nothing; nor does a statement that was carried out here
    /// before. When it returns, the process is to begin anew (`wipes`).
    ///
    /// - Parameter space: the only one there is so far, so the whole store goes.
    /// - Throws: `store` or `directory` if the disk refuses. Before the marker was written, the agent goes on as it was.
    package func wipe(_ space: SpaceID, _ record: WipeRecord) async throws(AgentError) {
        guard space == .home, let record = record.following(wiped), beginWipe() else { return }
        let directory = configuration.dataDirectory
        let wiping = ReadQueue(threadCount: 1)
        defer { wiping.close() }
        do throws(AgentError) {
            try await wiping.run { () throws(AgentError) in
                do throws(StoreError) { try StoreWipe(in: directory).begin(record.encoded) } catch {
                    throw .store(error, directory: directory)
                }
            } refused: { _ in
                AgentError.stopping
            }
        } catch {
            endWipe()
            throw error
        }
        logger.notice(
            "This device was told to delete what it holds, and does.",
            metadata: ["device.id": "\(record.author)"])
        await stop()
        // The next start does what does not succeed here.
        defer { finishWipes() }
        try await wiping.run { [device] () throws(AgentError) in
            try DataDirectory.finishWipe(directory, of: device)
        } refused: { _ in
            AgentError.stopping
        }
    }
}
