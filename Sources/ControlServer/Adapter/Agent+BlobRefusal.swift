import ControlAPI
import Glibc
import SyncAgent
import SyncStore

extension Agent {
    /// Returns the refusal of a blob that was to be added. Without its size, the store is asked how much room is taken.
    func refusal(of error: BlobError, size: UInt64?) async -> ControlError {
        guard case .quotaExceeded = error, size == nil else { return refusal(error, size: size) }
        let usage = try? await reading { () throws(ControlError) in try? attachments.blobs.usage() }
        return refusal(error, used: usage?.claimedBytes)
    }

    /// Returns the refusal of a blob store as an error with a code, a sentence and a next step.
    ///
    /// - Parameters:
    ///   - size: the size of the blob to be added, in bytes, if known.
    ///   - used: the bytes that all blobs take, if known.
    func refusal(_ error: BlobError, size: UInt64? = nil, used: UInt64? = nil) -> ControlError {
        switch error {
        case .quotaExceeded(let quota, let needed):
            let used = size.map { needed - min($0, needed) } ?? used ?? quota
            return .quotaExceeded(
                space: Self.homeName, quota: quota, used: used, needed: needed - min(used, needed))
        case .tooLarge: return .attachmentTooLarge
        case .sourceChanged: return .fileChanged
        case .notHere, .incomplete: return .attachmentMissing
        case .damaged: return .attachmentDamaged
        case .diskFull:
            return ControlError(
                .diskFull, "No space is left for \(configuration.dataDirectory); nothing was kept.",
                hint: "Free some space and try again. Everything written before is not affected.")
        case .inputOutput(let code), .unreadable(let code), .sourceUnreadable(let code):
            return ControlError(
                .storeFailed, "The files of attachments cannot be used: \(String(cString: strerror(code))).",
                hint: "Check the disk and who owns \(configuration.dataDirectory): lanyard doctor")
        case .wrongChunk, .wrongHashes:
            return ControlError(
                .internalFault, "Bytes came that are not of the attachment.", hint: "See: lanyard logs")
        case .store(let error): return ControlError(agent: error, directory: configuration.dataDirectory)
        }
    }
}
