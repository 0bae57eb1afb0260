import ControlAPI

extension StatusResponse.Space {
    /// The sentence on this space, safe for a terminal. Agents of versions before the key `sentence` do not make it; then it
    /// is made here of what they do say: where the device was revoked, it has no role, and no standings.
    var shownSentence: String {
        if let sentence { return shown(sentence) }
        let isRevoked = standings.isEmpty && !inStep && role == nil
        return shown(
            StandingText(standings, times: .local)
                .sentence(isInStep: inStep, absence: isRevoked ? .revoked : .unpaired))
    }
}
