/// Why a fetch that somebody waited for ended without the blob. What came of it stays.
package enum FetchError: Error, Hashable, Sendable {
    /// Nobody who is connected has it, or all of them were asked in vain. It goes on when a holder appears, if the space's
    /// policy wants it.
    case nobodyHas
    /// This node's disk or quota refuses: its stable code.
    case refused(code: String)
    /// The agent stops.
    case stopped
    /// The waiting task was cancelled.
    case cancelled
}
