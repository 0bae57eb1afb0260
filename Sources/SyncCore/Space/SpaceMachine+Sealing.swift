import SyncModel

// When local writes are sealed: signed, and so ready to be served.
extension SpaceMachine {
    /// Local writes stay open while no session is up; from the first `Hello` on they are sealed.
    mutating func openOrSeal(_ step: inout CoreStep) {
        let isAlone = step.network.isAlone
        if isAlone != mayStayOpen {
            mayStayOpen = isAlone
            sealRetryAt = nil
            if isAlone { step.emit(.leaveOpen) } else { seal(&step) }
        } else if let at = sealRetryAt, step.now >= at {
            sealRetryAt = nil
            seal(&step)
        }
    }

    private mutating func seal(_ step: inout CoreStep) {
        isSealing = true
        step.emit(.seal)
    }

    mutating func handleSealed(_ change: StoreChange, _ step: inout CoreStep) {
        isSealing = false
        if !change.segments.isEmpty { handleDurable(change, &step) }
    }

    /// Handles a refused seal: open writes wait for a store that takes writes again, not for the next local write.
    mutating func handleSealFailed(_ code: String, _ step: inout CoreStep) {
        isSealing = false
        step.emit(.report(.storeRefused(code: code)))
        if !mayStayOpen { sealRetryAt = step.now + configuration.timing.storeRetry }
    }
}
