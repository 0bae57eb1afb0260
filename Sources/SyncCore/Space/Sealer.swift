import SyncModel

/// When local writes are sealed: signed, and so ready to be served. They stay open while no session is up; from the first
/// `Hello` on they are sealed.
struct Sealer: Sendable {
    /// True if the store was told that local writes may stay open.
    private(set) var mayStayOpen = false
    /// True while the store has not answered a request to seal them: our own histories may end further on than is held.
    private(set) var isSealing = false
    /// The time to ask again for what the store refused to seal.
    private(set) var retryAt: Tick?

    mutating func plan(_ step: inout CoreStep) {
        let isAlone = step.network.isAlone
        if isAlone != mayStayOpen {
            mayStayOpen = isAlone
            retryAt = nil
            if isAlone { step.emit(.leaveOpen) } else { seal(&step) }
        } else if let at = retryAt, step.now >= at {
            retryAt = nil
            seal(&step)
        }
    }

    private mutating func seal(_ step: inout CoreStep) {
        isSealing = true
        step.emit(.seal)
    }

    mutating func handleSealed() { isSealing = false }

    /// Handles a refused seal: open writes wait for a store that takes writes again, not for the next local write.
    mutating func handleSealFailed(_ code: String, retryAfter: Tick.Span, _ step: inout CoreStep) {
        isSealing = false
        step.emit(.report(.storeRefused(code: code)))
        if !mayStayOpen { retryAt = step.now + retryAfter }
    }
}
