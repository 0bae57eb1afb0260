import SyncModel

/// Checks that a node sends only what both ends of a session know: the table of frames in PROTOCOL.md, with its feature bits.
struct AgreementChecker: Checker {
    static let name = "agreed frames only"

    mutating func sending(node: Int, _ frame: Frame, agreed: UInt64?) -> String? {
        switch frame {
        case .hello, .goodbye: return nil
        case _:
            guard let agreed else { return "node \(node) talks to a peer with which it has no session: \(frame)" }
            let missing = Self.needed(for: frame) & ~agreed
            return missing == 0 ? nil : "node \(node) sends what needs feature bits 0x\(String(missing, radix: 16))"
        }
    }

    /// The bits as PROTOCOL.md numbers them.
    private static func needed(for frame: Frame) -> UInt64 {
        switch frame {
        case .have(let have): have.acknowledgementsDigest == nil ? 0 : 1 << 0
        case .acknowledgements, .acknowledgementRequest: 1 << 0
        case .changes(let changes):
            (changes.segments.contains(where: \.isPacked) ? 1 << 1 : 0) | (changes.firstHeld > 0 ? 1 << 3 : 0)
        case .stateOffer, .stateRequest, .stateItems, .stateQuestion, .stateAnswer: 1 << 3
        case .bulkWanted: 1 << 4
        case .presence: 1 << 5
        case .statements: 1 << 6
        case .hello, .haveRequest, .want, .credit, .prune, .ping, .pong, .goodbye: 0
        }
    }
}
