import SyncCore

/// A TCP connection: each direction is ordered and whole, until the connection is over.
///
/// A machine that lost power says nothing: the other end lives on, half open, until it speaks and is answered by a reset.
struct SimulatedLink {
    struct End {
        let node: Int
        let generation: Int
        let connection: ConnectionID
        /// The time before which nothing arrives here, so that a direction stays in order.
        var arrivesAfter: Int64 = 0
        /// The packets sent to this end while the way was blocked: they arrive when it opens again.
        var stalled: [Packet] = []
        /// True if the core takes what arrives; packets it does not take wait in `stalled`.
        var isReading = true
        /// The transport has told its core that it is over.
        var isClosed = false
        /// The time since which the other end is gone without a notice.
        var aloneSince: Int64?
        /// The version of the process at this end.
        var version = SimulatedVersion.present
    }

    enum Packet {
        case frame([UInt8])
        case end(code: String)
    }

    let number: Int
    /// True if the connection carries bytes of attachments, not a session.
    let isBulk: Bool
    var dialer: End
    var acceptor: End
    var isReset = false

    func other(_ isDialer: Bool) -> End { isDialer ? acceptor : dialer }

    subscript(isDialer isDialer: Bool) -> End {
        get { isDialer ? dialer : acceptor }
        set { if isDialer { dialer = newValue } else { acceptor = newValue } }
    }
}
