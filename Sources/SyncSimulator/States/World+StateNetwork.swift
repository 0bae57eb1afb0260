import SyncModel

// The fate of frames of state on their way, or from a sender that lies.
extension World {
    /// True if the frame carries items of a state.
    func isState(_ frame: Frame) -> Bool {
        if case .stateItems(let items) = frame { return !items.bytes.isEmpty }
        return false
    }

    /// Returns the frames that arrive in place of a frame of state: none, the same, a forged one, or the same twice. Nil for
    /// any other frame. Frames on one connection arrive as they were sent, so only a faulty sender drops or repeats one.
    mutating func stateCopies(of frame: Frame, _ bytes: [UInt8]) -> [[UInt8]]? {
        guard isFaulty, let options = options.states, isState(frame), case .stateItems(var items) = frame else {
            return nil
        }
        if stateChance(per10000: options.droppedPer10000) { return [] }
        if stateChance(per10000: options.repeatedPer10000) { return [bytes, bytes] }
        if stateChance(per10000: options.forgedPer10000) {
            let byte = Int.random(in: 0..<items.bytes.count, using: &stateRandom)
            items.bytes[byte] ^= 1 << UInt8.random(in: 0..<8, using: &stateRandom)
            return (try? FrameCodec.encode(.stateItems(items))).map { [$0] }
        }
        return [bytes]
    }

    mutating func sendState(_ copies: [[UInt8]], on number: Int, toDialer: Bool) {
        for bytes in copies {
            framesSent += 1
            trace.record(now, links[number].other(toDialer).node, "sends \(bytes.count) bytes of state on \(number)")
            if stateChance(per10000: options.states?.resetsPer10000 ?? 0) { return reset(number) }
            post(.frame(bytes), on: number, toDialer: toDialer)
        }
    }
}
