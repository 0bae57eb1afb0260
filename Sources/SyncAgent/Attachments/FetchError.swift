/// The reason why an awaited fetch ended without the blob. The part that came stays.
package enum FetchError: Error, Hashable, Sendable {
    /// Every holder that is connected was asked in vain, or there is none. The fetch goes on when a holder appears, if the
    /// space's
    /// policy wants it.
    case nobodyHas
    /// This node's disk or quota refuses; the stable code.
    case refused(code: String)
    /// The agent stops.
    case stopped
    /// The waiting task was cancelled.
    case cancelled
}
