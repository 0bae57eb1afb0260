package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// What this node keeps of spaces, and what it looks at and throws away.
extension Agent {
    /// Returns the spaces by name.
    package func spaces() async throws(ControlError) -> [SpaceEntry] { [try await home()] }

    /// Changes a space's policy on this node. Throws `unknown_space`.
    package func setSpace(_ space: String, _ settings: SpaceSettings) async throws(ControlError) -> SpaceEntry {
        try checkSpace(space)
        try await controlled {
            // Room first: what the policy wants may need it.
            switch settings.quota {
            case nil: break
            case .unlimited: try await attachments.setQuota(nil, space: .home)
            case .bytes(let bytes): try await attachments.setQuota(bytes, space: .home)
            }
            if let fetch = settings.fetch { try await attachments.setPolicy(FetchPolicy(fetch), space: .home) }
        }
        return try await home()
    }

    private func home() async throws(ControlError) -> SpaceEntry {
        let now = try await controlled { try await snapshot() }
        let (policy, quota, missing) = try await stored { () throws(StoreError) in
            (try store.fetchPolicy(of: .home), try store.quota(of: .home), try store.missingCount(of: .home))
        }
        let usage: BlobUsage
        do throws(BlobError) { usage = try await blobUsage() } catch { throw refusal(error) }
        return SpaceEntry(
            name: Self.homeName, id: SpaceID.home.bytes.hexadecimal,
            members: now.members.count { !now.cuts.isAway($0.device) && !now.cuts.isBarred($0.device) },
            role: now.role(of: now.own).map { Role($0) }, fetch: FetchRule(policy), quota: quota,
            usedBytes: usage.claimedBytes, attachments: Int(now.counts.attachments), missing: Int(missing))
    }

    private func blobUsage() async throws(BlobError) -> BlobUsage {
        try await reading { () throws(BlobError) in
            try attachments.blobs.usage()
        } refused: { _ in
            .store(.closed)
        }
    }

    /// Removes blobs that were not needed for longer than the grace period.
    package func compact() async throws(ControlError) -> CompactResponse {
        // The log first: what it gives back is cut off with the rest.
        let log = try await controlled { try await compactLog() }
        do throws(BlobError) {
            let swept = try await attachments.compact()
            return CompactResponse(
                freedBytes: swept.freedBytes, blobs: swept.blobCount, strayFiles: swept.strayCount,
                changes: Int(log.changes))
        } catch {
            throw refusal(error)
        }
    }

    // MARK: Checks

    /// Checks that all attachments are here that should be.
    func attachmentCheck() async throws(ControlError) -> DoctorCheck {
        let missing = try await stored { () throws(StoreError) in try store.missingCount(of: .home) }
        guard missing > 0 else {
            return DoctorCheck(check: "attachments", state: .ok, detail: "all bytes that should be here are")
        }
        return DoctorCheck(
            check: "attachments", state: .warning,
            detail: "the bytes of \(missing) \(missing == 1 ? "attachment" : "attachments") are not here yet",
            hint: "They come when a device that has them is connected: lanyard status")
    }

    /// Every blob is read and hashed; what is damaged is asked for again.
    func deepAttachmentCheck(
        _ progress: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(ControlError) -> DoctorCheck {
        do throws(BlobError) {
            let (start, total) = (ContinuousClock.now, try await blobUsage().wholeBytes)
            let check = try await attachments.checkAll { check in
                let seconds = max((ContinuousClock.now - start) / .seconds(1), 0.001)
                progress(
                    ByteProgress(
                        doneBytes: check.rightBytes, totalBytes: max(total, check.rightBytes),
                        bytesPerSecond: UInt64(Double(check.rightBytes) / seconds)))
            }
            var right = "\(check.rightCount) blobs (\(ByteAmount.text(check.rightBytes))) are what their hashes say"
            if check.unreadCount > 0 { right += ", \(check.unreadCount) could not be looked at" }
            if check.damaged.isEmpty, check.unreadCount > 0 {
                return DoctorCheck(
                    check: "attachments", state: .warning, detail: right,
                    hint: "Nothing about them has changed. See that the agent may open their files, and run it again.")
            }
            guard !check.damaged.isEmpty else {
                return DoctorCheck(check: "attachments", state: .ok, detail: right)
            }
            return DoctorCheck(
                check: "attachments", state: .failed, detail: "\(right), \(check.damaged.count) are not",
                hint: "They are fetched again from devices that have them. Check the disk, and run it again.")
        } catch {
            let reason = refusal(error)
            return DoctorCheck(check: "attachments", state: .failed, detail: reason.message, hint: reason.hint)
        }
    }
}

extension FetchPolicy {
    init(_ rule: FetchRule) {
        switch rule {
        case .all: self = .all
        case .upTo(let size): self = .upTo(size)
        case .onDemand: self = .onDemand
        }
    }
}

extension FetchRule {
    init(_ policy: FetchPolicy) {
        switch policy {
        case .all: self = .all
        case .upTo(let size): self = .upTo(size)
        case .onDemand: self = .onDemand
        }
    }
}
