/// The counters of the core, for `/metrics` and the simulator's checkers.
package struct CoreCounters: Sendable, Equatable {
    package var segmentsReceived = 0
    package var segmentsDuplicate = 0
    package var segmentsEvicted = 0
    package var offences = 0
    package var sessionsOpened = 0
    package var pushesSent = 0
    package var wantsSent = 0
    package var wantsReassigned = 0
    /// Replicas that peers claim, each time that one was looked at to ask for it.
    package var claimsVisited = 0
    package var havesSent = 0
    /// Acknowledgement rows sent, to all peers.
    package var acknowledgementsSent = 0
    /// Acknowledgement rows whose signature did not hold.
    package var acknowledgementsRefused = 0
    package var presencesReceived = 0
    /// Presence records sent, to all peers.
    package var presencesSent = 0
    /// Presence records beyond the rate of their author or of the peer that passed them on.
    package var presencesDropped = 0
    /// Presence records whose signature did not hold.
    package var presencesRefused = 0
    package var statesOffered = 0
    package var statesRequested = 0
    /// States that were joined.
    package var statesTaken = 0
    /// States that ended before all came; what was staged stays.
    package var statesDropped = 0
    /// States of which nothing was used.
    package var statesRefused = 0
    /// States that were sent to their end.
    package var statesHanded = 0
    package var stateBytesReceived = 0

    package init() {}
}
