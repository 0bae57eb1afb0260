import ControlAPI
import ControlServer
import NIOCore
import Synchronization

/// Attachments of an agent in memory: bytes without hashes or disk, under ids that tests can foresee (`AAAAAAAA1…`).
struct MemoryAttachments {
    struct Stored {
        var entry: AttachmentEntry
        /// Nil: not here, and nobody has them.
        var bytes: [UInt8]?
        /// What somebody else has of it; `fetch` brings it.
        var elsewhere: [UInt8]?
        /// Reading fails behind so many bytes.
        var damagedAt: Int?
    }

    var stored: [Stored] = []
    var space = SpaceEntry(name: "home", id: String(repeating: "0", count: 32), fetch: .all, quota: nil)
    /// The sizes that were said before the first byte; nil: none was.
    var announced: [UInt64?] = []
    var givenUp = 0
    var nextNumber = 1

    /// Its place; throws where the id, or the beginning, names none or several.
    func place(_ id: String) throws(ControlError) -> Int {
        let found = stored.indices.filter { !id.isEmpty && stored[$0].entry.record.id.hasPrefix(id.uppercased()) }
        guard let first = found.first else { throw .unknownAttachment }
        guard found.count == 1 else { throw .ambiguousAttachment }
        return first
    }

    /// 64 digits that are equal for equal bytes (FNV-1a); for tests only.
    private static func hash(_ bytes: [UInt8]) -> String {
        let value = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(value, radix: 16)
        return String(repeating: String(repeating: "0", count: 16 - digits.count) + digits, count: 4)
    }

    mutating func add(_ bytes: [UInt8], _ draft: AttachmentDraft) -> AttachmentEntry {
        let id = "A\(nextNumber)" + String(repeating: "B", count: 24)
        nextNumber += 1
        let record = AttachmentRecord(
            id: id, name: draft.name, mediaType: draft.mediaType ?? "application/octet-stream",
            size: UInt64(bytes.count), width: nil, height: nil, hash: Self.hash(bytes))
        let safe = draft.name.isEmpty ? "attachment" : String(draft.name.map { $0 == "/" ? "_" : $0 })
        let entry = AttachmentEntry(
            record: record, owner: "\(draft.owner)", state: .present, progress: 1, fileName: safe)
        stored.insert(Stored(entry: entry, bytes: bytes), at: 0)
        space.usedBytes += UInt64(bytes.count)
        return entry
    }
}

extension MemoryAgent {
    // MARK: For tests

    /// Attaches without a request; `elsewhere`: the bytes are on another device only.
    func attach(_ bytes: [UInt8], named name: String, to owner: ObjectName, elsewhere: Bool = false) -> AttachmentEntry
    {
        let entry = attachments.add(bytes, AttachmentDraft(space: "home", owner: owner, name: name))
        guard elsewhere else { return entry }
        attachments.stored[0].bytes = nil
        attachments.stored[0].elsewhere = bytes
        attachments.stored[0].entry.state = .missing
        attachments.stored[0].entry.progress = 0
        return attachments.stored[0].entry
    }

    /// Nobody has the bytes of the newest attachment any more.
    func loseNewest() {
        attachments.stored[0].elsewhere = nil
        attachments.stored[0].bytes = nil
        attachments.stored[0].entry.state = .missing
    }

    /// The newest attachment reads wrong behind so many bytes.
    func damageNewest(at offset: Int) {
        attachments.stored[0].damagedAt = offset
        attachments.stored[0].entry.state = .partial
    }

    // MARK: Records

    func listAttachments(_ query: AttachmentListQuery) throws(ControlError) -> EntryPage<AttachmentEntry> {
        try check(query.space)
        var all = attachments.stored.map(\.entry)
        if let owner = query.owner { all = all.filter { $0.owner == "\(owner)" } }
        var start = 0
        if let cursor = query.after {
            guard let number = Int(cursor), all.indices.contains(number) else { throw .badCursor }
            start = number
        }
        let page = Array(all[start...].prefix(query.limit))
        let end = start + page.count
        return EntryPage(entries: page, next: end < all.count ? String(end) : nil)
    }

    func attachment(space: String, id: String) throws(ControlError) -> AttachmentEntry {
        try check(space)
        return attachments.stored[try attachments.place(id)].entry
    }

    func detach(space: String, id: String) throws(ControlError) -> Bool {
        try check(space)
        attachments.stored.remove(at: try attachments.place(id))
        return true
    }

    func pin(space: String, id: String, _ isPinned: Bool) throws(ControlError) -> AttachmentEntry {
        try check(space)
        let place = try attachments.place(id)
        attachments.stored[place].entry.pinned = isPinned
        return attachments.stored[place].entry
    }

    // MARK: Bytes

    func beginAttaching(_ draft: AttachmentDraft) throws(ControlError) -> any AttachmentReceiving {
        try check(draft.space)
        _ = try objects.object(draft.owner)
        if draft.mediaType?.contains("/") == false { throw .badMediaType }
        attachments.announced.append(draft.size)
        try checkRoom(for: draft.size ?? 0)
        return MemoryReceiver(agent: self, draft: draft)
    }

    fileprivate func checkRoom(for size: UInt64) throws(ControlError) {
        guard let quota = attachments.space.quota, attachments.space.usedBytes + size > quota else { return }
        throw .quotaExceeded(space: "home", quota: quota, used: attachments.space.usedBytes, needed: size)
    }

    fileprivate func finish(_ bytes: [UInt8], _ draft: AttachmentDraft) throws(ControlError) -> AttachmentEntry {
        guard draft.size.map({ $0 == UInt64(bytes.count) }) ?? true else { throw .fileChanged }
        return attachments.add(bytes, draft)
    }

    fileprivate func recordGivenUp() { attachments.givenUp += 1 }

    func openAttachment(space: String, id: String) throws(ControlError) -> any AttachmentReading {
        try check(space)
        let stored = attachments.stored[try attachments.place(id)]
        guard let bytes = stored.bytes else { throw .attachmentMissing }
        return MemoryReading(entry: stored.entry, bytes: bytes, damagedAt: stored.damagedAt)
    }

    func fetch(
        space: String, id: String, progress: @escaping @Sendable (ByteProgress) -> Void
    ) throws(ControlError) -> AttachmentEntry {
        try check(space)
        let place = try attachments.place(id)
        guard attachments.stored[place].bytes == nil else { return attachments.stored[place].entry }
        guard let bytes = attachments.stored[place].elsewhere else {
            throw .nobodyHas(last: ("kitchen", "5 min ago"), author: "attic")
        }
        let total = UInt64(bytes.count)
        progress(ByteProgress(doneBytes: total / 2, totalBytes: total, bytesPerSecond: 1_000))
        attachments.stored[place].bytes = bytes
        attachments.stored[place].entry.state = .present
        attachments.stored[place].entry.progress = 1
        return attachments.stored[place].entry
    }

    // MARK: Spaces

    func spaces() -> [SpaceEntry] { [attachments.space] }

    func setSpace(_ space: String, _ settings: SpaceSettings) throws(ControlError) -> SpaceEntry {
        try check(space)
        attachments.space.fetch = settings.fetch ?? attachments.space.fetch
        switch settings.quota {
        case nil: break
        case .unlimited: attachments.space.quota = nil
        case .bytes(let bytes): attachments.space.quota = bytes
        }
        return attachments.space
    }

    func compact() -> CompactResponse { CompactResponse(freedBytes: 3 << 20, blobs: 2, strayFiles: 1) }
}

/// Keeps what comes; for tests only.
private final class MemoryReceiver: AttachmentReceiving {
    private let agent: MemoryAgent
    private let draft: AttachmentDraft
    private let bytes = Mutex<[UInt8]>([])

    init(agent: MemoryAgent, draft: AttachmentDraft) {
        self.agent = agent
        self.draft = draft
    }

    func append(_ bytes: ByteBuffer) async throws(ControlError) {
        let count = self.bytes.withLock { all in
            all += bytes.readableBytesView
            return all.count
        }
        if draft.size == nil { try await agent.checkRoom(for: UInt64(count)) }
    }

    func finish() async throws(ControlError) -> AttachmentEntry {
        try await agent.finish(bytes.withLock(\.self), draft)
    }

    func giveUp() { Task { [agent] in await agent.recordGivenUp() } }
}

private final class MemoryReading: AttachmentReading {
    let entry: AttachmentEntry
    private let bytes: [UInt8]
    private let damagedAt: Int?
    private let position = Mutex(0)

    init(entry: AttachmentEntry, bytes: [UInt8], damagedAt: Int?) {
        self.entry = entry
        self.bytes = bytes
        self.damagedAt = damagedAt
    }

    func next() async throws(ControlError) -> ByteBuffer? {
        let start = position.withLock { position in
            defer { position = min(position + 65_536, bytes.count) }
            return position
        }
        if let damagedAt, start >= damagedAt { throw .attachmentDamaged }
        return start < bytes.count ? ByteBuffer(bytes: bytes[start..<min(start + 65_536, bytes.count)]) : nil
    }
}
