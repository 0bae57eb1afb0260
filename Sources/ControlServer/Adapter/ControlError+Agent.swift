import ControlAPI
import SyncAgent
import SyncModel
import SyncStore
import SyncTransport

extension ControlError {
    /// Turns any error of the agent into one with a code, a sentence and a next step.
    init(agent error: any Error, directory: String) {
        switch error {
        case let error as ControlError: self = error
        case let error as StoreError: self.init(store: error, directory: directory)
        case let error as TicketError: self.init(.ticketInvalid, error.message, hint: error.hint)
        case let error as JoinError: self.init(join: error)
        case AgentError.duplicateIdentity:
            self.init(
                .duplicateIdentity, "Another agent runs with this device's identity; nothing was written.",
                hint: AgentError.rekeyingHint)
        case AgentError.blocked(let device):
            let blocked = AgentError.blocked(device)
            self.init(.forbidden, blocked.message, hint: blocked.hint)
        case AgentError.revoked(let device):
            let refused = AgentError.revoked(device)
            self.init(.forbidden, Self.sentence(refused.message), hint: Self.sentence(refused.hint))
        case AgentError.alreadyPairing:
            self.init(
                .alreadyPairing, "A pairing runs on this device already.",
                hint: "Finish it, or stop it with Ctrl-C where `lanyard pair` was typed.")
        case AgentError.roleTooGreat(let role, let own):
            let refused = AgentError.roleTooGreat(role, own: own)
            self.init(
                own == .reader ? .readOnly : .forbidden, Self.sentence(refused.message),
                hint: Self.sentence(refused.hint))
        case AgentError.untilPassed:
            let passed = AgentError.untilPassed
            self.init(.invalidArgument, Self.sentence(passed.message), hint: Self.sentence(passed.hint))
        case AgentError.alreadyReloading:
            let refused = AgentError.alreadyReloading
            self.init(.alreadyRunning, Self.sentence(refused.message), hint: refused.hint)
        case let error as ConfigurationError: self.init(configuration: error)
        case AgentError.upgrading: self = .upgrading(nil)
        case let error as AgentError: self.init(.stopping, error.message, hint: error.hint)
        default: self.init(.internalFault, "The agent met an error: \(error).", hint: "See `lanyard logs`.")
        }
    }

    private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

    private init(configuration error: ConfigurationError) {
        let code: ErrorCode = if case .unreadableFile = error { .fileUnreadable } else { .invalidArgument }
        self.init(
            code, "The configuration is not taken over, and nothing was changed: \(error).",
            hint: "Correct it; then: lanyard reload")
    }

    private init(join error: JoinError) {
        let code: ErrorCode =
            switch error {
            case .expired, .refused("ticket_expired"): .ticketExpired
            case .refused("ticket_already_used"): .ticketUsed
            case .nobodyAnswered, .interrupted, .noAddresses: .unreachable
            case .notAdmitted: .storeFailed
            case .ownTicket, .wrongDevice, .notInviting, .refused, .badAnswer: .ticketInvalid
            }
        self.init(code, error.message, hint: error.hint)
    }

    private init(store error: StoreError, directory: String) {
        let wrapped = AgentError.store(error, directory: directory)
        switch error {
        case .diskFull:
            self.init(
                .diskFull, "No space is left for \(directory); nothing was written.",
                hint: "Free some space and try again. Reading and everything written before are not affected.")
        case .closed: self.init(.stopping, "The agent is stopping.", hint: "Start it again: lanyardd")
        case .retired:
            self.init(
                .catchingUp, "This device was retired while it was away, and is being admitted again.",
                hint:
                    "It takes a moment with a session; `lanyard why` tells whether there is one. Nothing it wrote is lost."
            )
        case .inputOutput, .corrupt, .schemaNewer, .locked, .unreadable, .notApplicable, .stampsExhausted, .refused,
            .foreignTail:
            self.init(.storeFailed, "The store refused: \(wrapped.message).", hint: wrapped.hint)
        }
    }
}
