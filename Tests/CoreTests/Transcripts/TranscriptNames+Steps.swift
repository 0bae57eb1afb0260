import SyncCore
import SyncModel

extension TranscriptNames {
    /// An input in a few words; nil for those that only say that a frame left, or that time passed.
    func text(_ input: Input, from peer: String) -> String? {
        switch input {
        case .appended(let change): "appended \(text(change))"
        case .sealed(let change): change.segments.isEmpty ? "sealed nothing" : "sealed \(text(change))"
        case .persisted(_, let change): "persisted \(text(change))"
        case .persistFailed(_, let code): "persist failed: \(code)"
        case .sealFailed(let code), .acknowledgeFailed(let code), .collectFailed(let code), .compactFailed(let code),
            .rewriteFailed(let code), .redoFailed(let code):
            "the store failed: \(code)"
        case .segmentsRead(_, let read):
            "read \(segments(read.map { ($0.replica, $0.start, $0.end) }))"
        case .headsRead(_, let heads): "read \(heads.count) heads"
        case .acknowledged(let signed): "acknowledged \(vector(signed.acknowledgement.vector))"
        case .collected(let next, _): next == nil ? "collected, pass over" : "collected, more to come"
        case .compacted(let firstHeld, let isLast):
            "compacted, held from \(vector(firstHeld))\(isLast ? ", pass over" : "")"
        case .compactionAsked: "compaction asked"
        case .droppedEvents(let hasMore): "dropped events\(hasMore ? ", more to come" : "")"
        case .rewritten(let hasMore): "wrote again\(hasMore ? ", more to come" : "")"
        case .takenBack: "took back"
        case .redone(let hasMore, let isWaiting):
            "did again\(hasMore ? ", more to come" : "")\(isWaiting ? ", waits" : "")"
        case .state(let state): "state \(text(state))"
        case .recordAppeared: "record appeared"
        case .recordVanished: "record vanished"
        case .networkChanged: "network changed"
        case .addressAdded(let endpoint, _, _): "address of \(name(endpoint)) added"
        case .addressRemoved(let endpoint): "address of \(name(endpoint)) removed"
        case .blocked(let devices): "blocked \(devices.map(name).joined(separator: ", "))"
        case .announced: "announced"
        case .dialFailed(_, let code): "dial failed: \(code)"
        case .opened(let id, let device, _): "\(id.isOutbound ? "dialled" : "accepted") \(name(device))"
        case .received(_, let frame, _): "heard from \(peer): \(text(frame))"
        case .malformed(_, let code): "malformed from \(peer): \(code)"
        case .closed(_, let code): "connection with \(peer) closed: \(code)"
        case .askForBulk(let device): "bytes wanted from \(name(device))"
        case .pingAsked(let device): "ping of \(name(device)) asked"
        case .renamed(let name): "renamed \(name)"
        case .presenceChanged(let signed): "presence changed to \(text(signed.record))"
        case .written, .deadlinePassed: nil
        }
    }

    private func text(_ change: StoreChange) -> String {
        segments(change.segments.map(\.segment).map { ($0.replica, $0.start, $0.end) })
    }

    private func text(_ input: StateInput) -> String {
        switch input {
        case .begun(_, let since, _, _): "begun since \(vector(since))"
        case .staged(_, let isComplete): isComplete ? "staged, complete" : "staged"
        case .lookedUp(_, let staged): "looked up \(staged.count)"
        case .reviewed(_, _, let tips, _): "reviewed \(tips.count) histories"
        case .joined(_, let joined): "joined, held \(vector(joined.tips.map { ($0.replica, $0.tip.next) }))"
        case .refused(_, let error): "refused: \(error)"
        case .failed(_, let code): "failed: \(code)"
        case .weighed: "weighed"
        case .opened(_, let vector): "opened at \(self.vector(vector))"
        case .chunkRead: "chunk read"
        }
    }

    /// An effect in a few words.
    func text(_ effect: Effect, to peer: (ConnectionID) -> String) -> String {
        switch effect {
        case .persist(_, let verified):
            "persist \(segments(verified.map(\.segment).map { ($0.replica, $0.start, $0.end) }))"
        case .read(_, let replica, let start, _): "read \(name(replica)) from \(start)"
        case .readHeads(_, let entries): "read heads of \(vector(VersionVector(entries)))"
        case .acknowledge(let acknowledgement): "acknowledge \(vector(acknowledgement.vector))"
        case .keep(let signed):
            "keep acknowledgements of \(signed.map { name($0.acknowledgement.device) }.joined(separator: ", "))"
        case .collect(let stable, _, _): "collect up to \(vector(stable))"
        case .compact(let stable): "compact up to \(vector(stable))"
        case .dropEvents(let stable): "drop events up to \(vector(stable))"
        case .state(let state): "state: \(text(state))"
        case .readmit(let fact): "admit \(name(fact.device)) again"
        case .settle: "finalize its own retirement"
        case .rewriteVoid: "write again what counts nowhere"
        case .takeBack(let other): "take back \(name(other.replica))"
        case .redoTakenBack: "do again what was taken back"
        case .leaveOpen: "leave local writes open"
        case .seal: "seal local writes"
        case .closeIncarnation(let replica): "close \(name(replica))"
        case .dial(_, let endpoint): "dial \(name(endpoint))"
        case .send(let id, let frame): "send \(peer(id)): \(text(frame))"
        case .establish(let id): "establish \(peer(id))"
        case .close(let id, let reason): "close \(peer(id)): \(reason.rawValue)"
        case .trust(let devices, let heard):
            "trust \(devices.isEmpty ? "no device" : devices.map(name).joined(separator: ", "))"
                + (heard.isEmpty ? "" : ", hear \(heard.map(name).joined(separator: ", "))")
        case .takeStatements(let statements): "take \(statements.count) statements of the recovery key"
        case .wipe(let placed): "wipe, by \(name(placed.dot.replica.device))"
        case .takeWipeReceipt(_, let device): "take \(name(device))'s receipt for a wipe"
        case .wipeReceiptTaken(let device): "\(name(device)) has the receipt for the wipe"
        case .remember(let endpoint, _): "remember the address of \(name(endpoint))"
        case .bulkPeerUp(let device, _): "bulk peer \(name(device)) is up"
        case .bulkPeerDown(let device): "bulk peer \(name(device)) is down"
        case .bulkWanted(let device): "open a bulk connection to \(name(device))"
        case .presence(let records):
            "show presence of \(records.isEmpty ? "no device" : records.map(text).joined(separator: ", "))"
        case .renewPresence: "renew presence"
        case .report(let report): "report \(text(report))"
        }
    }

    private func text(_ effect: StateEffect) -> String {
        switch effect {
        case .begin: "begin staging"
        case .stage(_, let items): "stage \(items.count) items"
        case .lookUp(_, let announcements): "look up \(announcements.count)"
        case .review: "review"
        case .join: "join"
        case .discard: "discard staging"
        case .weigh(_, let since): "weigh since \(vector(since))"
        case .open(_, let since, _, _, _): "open since \(vector(since))"
        case .read: "read a chunk"
        case .close: "close"
        }
    }

    private func text(_ report: Report) -> String {
        switch report {
        case .sessionUp(let device, _, _, _): "session with \(name(device)) is up"
        case .sessionDown(let device, let code): "session with \(name(device)) is down: \(code)"
        case .refused(let device, let reason, _): "refused \(device.map(name) ?? "a peer"): \(reason.rawValue)"
        case .peerClock(let device, _): "clock of \(name(device))"
        case .diverged(let device): "diverged from \(name(device))"
        case .forked(let replica, let device): "\(name(replica)) is forked, says \(name(device))"
        case .forkEnded(let replica): "fork of \(name(replica)) ended"
        case .tookBack(let replica, let device): "took back \(name(replica)), shown by \(name(device))"
        case .duplicateIdentity(let device): "duplicate identity, says \(name(device))"
        case .ownChangesReturned: "own changes returned"
        case .memberAdmitted(let device): "\(name(device)) is a member"
        case .tooManyHistories(let device): "too many histories of \(name(device))"
        case .revocationIgnored: "a revocation is ignored"
        case .ownRevocationEnded: "the own revocation does not hold any more"
        case .ownRevocation(let placed, let device):
            "revoked by \(name(placed.dot.replica.device)), says \(name(device))"
        case .stateTaken(let device): "took state from \(name(device))"
        case .storeRefused(let code): "the store refuses: \(code)"
        case .storeRecovered: "the store takes writes again"
        }
    }
}
