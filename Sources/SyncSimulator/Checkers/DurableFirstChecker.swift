import SyncModel

/// Checks that no change is announced or sent before it is durable at the sender.
struct DurableFirstChecker: Checker {
    static let name = "durable before sent"

    mutating func sending(node: Int, _ frame: Frame, durable: VersionVector) -> String? {
        switch frame {
        case .have(let have):
            for entry in have.entries where durable.next(of: entry.replica) < entry.next {
                return "node \(node) says it has \(entry.replica) up to \(entry.next); "
                    + "its disk has \(durable.next(of: entry.replica))"
            }
        case .changes(let changes):
            for part in changes.segments where durable.next(of: changes.replica) < part.end {
                return "node \(node) sends \(changes.replica) up to \(part.end); "
                    + "its disk has \(durable.next(of: changes.replica))"
            }
        case .hello, .haveRequest, .want, .credit, .prune, .ping, .pong, .goodbye, .statements, .acknowledgements,
            .acknowledgementRequest, .bulkWanted, .stateOffer, .stateRequest, .stateItems, .stateQuestion, .stateAnswer,
            .presence:
            break
        }
        return nil
    }
}
