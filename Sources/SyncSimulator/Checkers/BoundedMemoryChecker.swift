import SyncCore
import SyncModel

/// Every queue stays within its bound, whatever peers do.
struct BoundedMemoryChecker: Checker {
    static let name = "bounded memory"

    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? {
        let load = core.load
        // Beyond the room: one segment that may be what all wait for, and what was granted before the room filled.
        let room = bounds.waitingRoomBytes + 2 * Limits.segmentBytes
        if load.waitingRoomBytes > room { return "node \(node): \(load.waitingRoomBytes) bytes wait, \(room) may" }
        if load.unconfirmedBytes > bounds.inFlightBytesPerPeer {
            return "node \(node): \(load.unconfirmedBytes) bytes are pushed and unconfirmed"
        }
        let buffered = bounds.inFlightBytesPerPeer + bounds.outboundBufferBytes + 2 * Limits.segmentBytes
        if load.bufferedBytes > buffered {
            return "node \(node): \(load.bufferedBytes) bytes are buffered for one peer"
        }
        if load.outstandingWantBytes > bounds.waitingRoomBytes + 16 * Limits.segmentBytes {
            return "node \(node): \(load.outstandingWantBytes) bytes are asked for"
        }
        // Beyond the window: an item that was in pieces and is whole now, in these worlds no longer than a segment.
        if load.stateBytes > bounds.stateWindowBytes + Limits.segmentBytes || load.outlets > bounds.statesServed {
            return "node \(node): \(load.stateBytes) bytes of state are on their way, \(load.outlets) states go out"
        }
        let records = min(core.membership.members.count, bounds.presencesKept + 1)
        let presence = records * (Limits.presenceRecordBytes + ChainSignature.byteCount)
        if load.presenceBytes > presence { return "node \(node): \(load.presenceBytes) bytes of presence are kept" }
        if load.sessions > 64 || load.dialTargets > bounds.dialTargets || load.reads > load.sessions {
            return "node \(node): \(load.sessions) sessions, \(load.dialTargets) addresses, \(load.reads) reads"
        }
        return nil
    }

    /// Where nodes go on asking each other, some bytes are always under way.
    mutating func stoodStill(_ ending: WorldEnding) -> String? { ending.isAsking ? nil : ended(ending) }

    /// Fails if bytes still count as buffered at the end. Bytes counted twice, or by another measure than they are written
    /// by, add up until a peer is never served again.
    mutating func ended(_ ending: WorldEnding) -> String? {
        for node in ending.nodes where node.bufferedBytes > 0 {
            return "node \(node.number): \(node.bufferedBytes) bytes count as buffered, and all is written"
        }
        return nil
    }
}
