package import SyncCore
package import SyncStore

/// The planted bugs by their command-line names: each a switch in the code that ships.
package enum PlantedBug: String, CaseIterable, Sendable {
    case sendBeforeCommit = "send-before-commit"
    case offByOneVector = "off-by-one-vector"
    case skipWaitingRoom = "skip-waiting-room"
    case reuseCounter = "reuse-counter"
    case dropHave = "drop-have"
    case deadSessionAlive = "dead-session-alive"
    case beyondSignature = "beyond-signature"
    case acknowledgeWaitingRoom = "acknowledge-waiting-room"
    case forgetLostWant = "forget-lost-want"
    case commitWithoutSync = "commit-without-sync"
    case collectBeforeStability = "collect-before-stability"

    package var core: CoreFaults {
        switch self {
        case .sendBeforeCommit: .sendBeforeCommit
        case .offByOneVector: .offByOneVector
        case .skipWaitingRoom: .skipWaitingRoom
        case .dropHave: .dropHave
        case .deadSessionAlive: .countDeadSessionAsAlive
        case .beyondSignature: .applyBeyondSignature
        case .acknowledgeWaitingRoom: .acknowledgeWaitingRoom
        case .forgetLostWant: .forgetLostWant
        case .collectBeforeStability: .collectBeforeStability
        case .reuseCounter, .commitWithoutSync: []
        }
    }

    package var store: StoreFaults {
        switch self {
        case .reuseCounter: .reuseCounterAfterCrash
        case .commitWithoutSync: .commitWithoutSync
        case .sendBeforeCommit, .offByOneVector, .skipWaitingRoom, .dropHave, .deadSessionAlive, .beyondSignature,
            .acknowledgeWaitingRoom, .forgetLostWant, .collectBeforeStability:
            []
        }
    }
}
