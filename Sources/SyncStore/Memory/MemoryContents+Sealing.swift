import SyncModel

extension MemoryContents {
    /// Takes the open tail out again, with what hangs on it: it is about to be written anew.
    mutating func remove(_ tail: OpenTail) {
        let kept = (segments[tail.replica] ?? []).prefix { $0.verified.segment.end <= tail.sealedTip.next }.count
        segments[tail.replica]?.removeSubrange(kept...)
        for (stream, found) in runs {
            let rest = found.filter { $0.lastPosition <= tail.before.lastPosition }
            runs[stream] = rest.isEmpty ? nil : rest
        }
        for key in Array(tail.bases.keys) + tail.steady.keys {
            touches[key]?.removeAll { $0.replica == tail.replica && $0.index >= kept }
        }
    }

    mutating func write(_ sealing: Sealing) {
        // No attachment comes or goes: what is shown stays.
        write(sealing.log, sealing.objects, at: 0)
        for key in sealing.vanished {
            objects[key] = nil
            touches[key] = nil
        }
        log = sealing.after
    }

    /// True if a process ended with commits of `replica` that it had not sealed.
    func hasOpenTail(of replica: ReplicaID) -> Bool {
        segments[replica]?.last?.verified.segment.signature.isEmpty ?? false
    }

    /// Signs what a process left open, as it stands.
    mutating func signTail(of replica: ReplicaID, _ sign: ([UInt8]) -> [UInt8]) {
        guard var stored = segments[replica] else { return }
        for index in stored.indices.reversed() {
            let verified = stored[index].verified
            let segment = verified.segment
            guard segment.signature.isEmpty else { break }
            let message = ChainSignature.message(
                space: log.space, replica: replica, end: segment.end, head: verified.tip.head)
            let signed = Segment(
                replica: replica, start: segment.start, end: segment.end, bytes: segment.bytes,
                signature: sign(message))
            stored[index] = StoredSegment(
                verified: VerifiedSegment(
                    segment: signed, context: verified.context, changeCount: verified.changeCount, tip: verified.tip),
                firstPosition: stored[index].firstPosition)
        }
        segments[replica] = stored
    }
}
