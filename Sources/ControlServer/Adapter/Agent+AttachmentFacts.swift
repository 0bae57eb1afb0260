import ControlAPI
import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// What keeps the bytes of an attachment away.
extension Agent {
    /// Returns the finding about an attachment; nil for a text that is no attachment's id.
    func attachmentFinding(
        _ text: String, _ now: AgentSnapshot
    ) async throws(ControlError) -> (finding: WhyReasoning.AttachmentFinding, retryAt: Tick?)? {
        let found: StoredAttachment
        do throws(ControlError) {
            found = try await reading { () throws(ControlError) in
                try foundAttachment(space: Self.homeName, id: text)
            }
        } catch {
            guard error.code == .unknownAttachment else { throw error }
            return Attachment.isLabel(text) ? (.unknown, nil) : nil
        }
        let attachment = found.attachment
        let blob = attachment.file.blob
        let view = try await controlled { try await self.view(of: blob) }
        return try await reading { () throws(ControlError) in
            try finding(about: attachment, as: text, view, now)
        }
    }

    /// The part of the finding that the store knows. To be called on a reading thread.
    private func finding(
        about attachment: Attachment, as text: String, _ view: BulkWantView, _ now: AgentSnapshot
    ) throws(ControlError) -> (finding: WhyReasoning.AttachmentFinding, retryAt: Tick?) {
        let blob = attachment.file.blob
        let last = lastHolder(of: blob)
        let author = attachment.id.replica.device
        var facts = AttachmentFacts(id: text, size: attachment.file.size, author: now.name(of: author))
        do throws(BlobError) {
            switch try attachments.blobs.status(of: blob) {
            case .whole: facts.isHere = true
            case .missing: facts.presentBytes = view.presentBytes
            case .partial(_, let presentBytes): facts.presentBytes = max(presentBytes, view.presentBytes)
            }
        } catch { throw refusal(error) }
        facts.isArriving = view.isArriving
        facts.holders = view.holders.filter { !view.spentHolders.contains($0) }.map { now.name(of: $0) }
        facts.spentHolders = view.spentHolders.map { now.name(of: $0) }
        facts.liars = view.liars.map { now.name(of: $0) }
        facts.refusal = view.refusal.map { refusal(code: $0, size: view.blob.size) }
        facts.connectedCount = now.peers.count { $0.state == .connected }
        facts.last = last.map { (now.name(of: $0.device), $0.when) }
        try addPolicy(&facts, blob, view)
        return (.known(facts, holder: last?.device ?? author), view.liars.isEmpty ? nil : view.pardonAt)
    }

    private func addPolicy(
        _ facts: inout AttachmentFacts, _ blob: BlobName, _ view: BulkWantView
    ) throws(ControlError) {
        let (policy, isPinned) = try read { () throws(StoreError) in
            (try store.fetchPolicy(of: .home), try store.isPinned(blob, space: .home))
        }
        guard !view.isWanted, !isPinned else { return }
        switch policy {
        case .onDemand: facts.policy = "only what people ask for"
        case .upTo(let limit) where blob.size > limit: facts.policy = "up to \(ByteAmount.text(limit))"
        case .upTo, .all: break
        }
    }
}
