import SyncModel

/// The fill of the core's queues: each has a bound, and the simulator holds the core to it.
package struct CoreLoad: Sendable, Equatable {
    package var waitingRoomBytes: Int
    /// The largest of all sessions.
    package var unconfirmedBytes: Int
    package var bufferedBytes: Int
    package var sessions: Int
    package var pulls: Int
    package var reads: Int
    package var dialTargets: Int
    package var outstandingWantBytes: Int
    /// The bytes of a state that came and are not staged, or are granted; without the incomplete part of an item.
    package var stateBytes: Int
    package var outlets: Int
    /// The bytes of the presence records that are kept, of all members.
    package var presenceBytes: Int
}

extension AgentCore {
    package var load: CoreLoad {
        CoreLoad(
            waitingRoomBytes: home.receiver.waiting.bytes, unconfirmedBytes: home.sender.greatestUnconfirmedBytes,
            bufferedBytes: step.network.greatestBufferedBytes, sessions: step.network.connections.count,
            pulls: home.puller.count, reads: home.sender.readCount, dialTargets: step.network.targetCount,
            outstandingWantBytes: home.puller.outstandingBytes,
            stateBytes: home.stateReceiver.load,
            outlets: home.stateSender.load, presenceBytes: home.presence.byteCount)
    }

    /// Connections the core counts as up, in the order they opened.
    package var upConnections: [ConnectionID] { step.network.upConnections }
}
