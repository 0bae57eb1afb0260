package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// The log of trust.
extension Agent {
    /// Returns a page of the log of trust, in the order in which this node learned of the facts. Whether each holds is judged
    /// by what the node holds now.
    package func trust(
        space: String, after cursor: String?, limit: Int
    ) async throws(ControlError) -> EntryPage<TrustEntry> {
        try checkSpace(space)
        var position: Int64 = 0
        if let cursor {
            guard let number = Int64(cursor), number >= 0 else { throw .badCursor }
            position = number
        }
        let records = try await stored { [position] () throws(StoreError) in
            try store.trust(after: position, limit: limit)
        }
        let now = try await controlled { try await snapshot() }
        let entries = try await reading { () throws(ControlError) in
            let judgement = TrustRecord.Judgement(
                of: records, membership: now.membership, cuts: now.cuts, blocked: now.blocked)
            return records.map { TrustEntry($0, judgement, now) }
        }
        return EntryPage(entries: entries, next: records.next(limit: limit) { String($0.position) })
    }
}

extension TrustEntry {
    fileprivate init(_ record: TrustRecord, _ judgement: TrustRecord.Judgement, _ now: AgentSnapshot) {
        let fact = record.fact
        let reason: TrustEffect.Reason? =
            switch record.effect(judgement) {
            case .holds: nil
            case .void(let reason): reason
            }
        self.init(
            position: record.position, at: fact.wallMilliseconds.map(Timestamp.init(millisecondsSinceEpoch:)),
            knownSince: record.knownMilliseconds.map(Timestamp.init(millisecondsSinceEpoch:)),
            author: "\(fact.author)", authorName: now.memberName(of: fact.author),
            action: Self.action(record, judgement), device: "\(fact.device)",
            deviceName: now.memberName(of: fact.device) ?? fact.admission?.name,
            role: (fact.admission?.role ?? fact.statement?.role).map { Role($0) },
            byRecoveryKey: fact.statement?.isRecovery ?? false, inEffect: reason == nil, reason: reason?.rawValue)
    }

    private static func action(_ record: TrustRecord, _ judgement: TrustRecord.Judgement) -> String {
        switch record.fact.kind {
        case .admission:
            if record.isReturn(judgement) { return "returned" }
            return record.fact.admission?.isHost == true ? "joined" : "admitted"
        case .retirement: return "retired"
        case .revocation: return "revoked"
        case .block: return "blocked"
        case .unblock: return "unblocked"
        case .role: return "roleGiven"
        case .readmission: return "readmitted"
        case .recoveryKey: return "recoveryKeyMade"
        }
    }
}

extension AgentSnapshot {
    /// Returns the name that `devices` shows; nil for a device that is no member.
    func memberName(of device: DeviceID) -> String? {
        if device == own { return name }
        guard let member = membership[device] else { return nil }
        return peers.first { $0.device == device }?.name ?? member.fact.name
    }
}
