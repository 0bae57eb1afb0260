import SyncCore
import SyncModel

extension TranscriptNames {
    /// A frame in a few words: the fields that decide, without sizes, digests and signatures.
    func text(_ frame: Frame) -> String {
        switch frame {
        case .hello: "hello"
        case .have(let have):
            "have \(vector(have.entries.map { ($0.replica, $0.next) }))\(have.complete ? ", complete" : "")"
        case .haveRequest: "have request"
        case .want(let want): "want \(name(want.replica)) \(want.from)..<\(want.to)"
        case .credit(let credit): credit.cancel ? "cancel want" : "credit"
        case .changes(let changes): text(changes)
        case .prune(let prune): "prune \(name(prune.replica))"
        case .ping: "ping"
        case .pong: "pong"
        case .goodbye(let goodbye):
            "goodbye \(goodbye.code)"
                + (goodbye.statements.isEmpty ? "" : ", with statements at \(dots(goodbye.statements))")
        case .acknowledgements(let sent): "acknowledgements of \(sent.rows.map(text).joined(separator: "; "))"
        case .acknowledgementRequest: "acknowledgement request"
        case .bulkWanted: "bulk wanted"
        case .stateOffer: "state offer"
        case .stateRequest(let request): "state request since \(vector(request.since))"
        case .stateItems(let items):
            "state items\(items.vector.map { " at \(vector($0))" } ?? "")\(items.last ? ", last" : "")"
        case .stateQuestion(let question): "state question about \(question.announcements.count)"
        case .stateAnswer(let answer): "state answer about \(answer.staged.count)"
        case .statements(let sent): "statements at \(dots(sent.statements))"
        case .presence(let presence): "presence of \(presence.records.map { text($0.record) }.joined(separator: ", "))"
        }
    }

    private func dots(_ statements: [PlacedStatement]) -> String {
        statements.map { "\(name($0.dot.replica)) \($0.dot.counter)" }.joined(separator: ", ")
    }

    func text(_ record: PresenceRecord) -> String {
        let entries = record.entries.map { "\($0.topic)=\(String(decoding: $0.value, as: UTF8.self))" }
        return "\(name(record.device)) [\(entries.joined(separator: " "))]"
    }

    private func text(_ changes: Frame.Changes) -> String {
        let parts = segments(changes.segments.map { (changes.replica, $0.start, $0.end) })
        let kind = changes.wantID == 0 ? "pushed" : changes.last ? "wanted, last" : "wanted"
        return "changes \(parts) (\(kind))" + (changes.firstHeld > 0 ? ", held from \(changes.firstHeld)" : "")
    }

    private func text(_ row: AcknowledgementRow) -> String {
        let entries =
            row.base == nil ? vector(VersionVector(row.entries)) : "moved " + vector(VersionVector(row.entries))
        return "\(name(row.device)) at \(entries)"
    }
}
