import SyncModel

/// A device with which bytes of attachments can be exchanged.
struct BulkPeering: Sendable, Equatable {
    let device: DeviceID
    /// The process at the other end: bulk connections with an earlier one are dead, though nothing may have said so.
    let runID: UInt64
    /// The address to dial; nil if the other side dials.
    let dial: Endpoint?
}

// The part of sessions in bulk connections: which devices may have one, and which side dials it. The side that dialled the
// session dials, since only that side is known to get through.
extension PeerNetwork {
    mutating func handleBulkWanted(_ index: Int, _ output: inout StepOutput) {
        guard sessions[index].knowsBulk else { return refuse(index, .unexpectedFrame, detail: "bulkWanted", &output) }
        // The shell hears of the peer before it hears what the peer wants.
        tellBulkPeers(&output)
        output.emit(.bulkWanted(sessions[index].device))
    }

    mutating func askForBulk(_ device: DeviceID, _ output: inout StepOutput) {
        guard let index = upSessions.first(where: { sessions[$0].device == device && sessions[$0].knowsBulk })
        else { return }
        send(index, .bulkWanted, &output)
    }

    /// Says what changed since it was last said. Of two sessions with one device the older counts until one has ended.
    mutating func tellBulkPeers(_ output: inout StepOutput) {
        var peerings: [BulkPeering] = []
        for index in upSessions where sessions[index].knowsBulk {
            let session = sessions[index]
            guard !peerings.contains(where: { $0.device == session.device }) else { continue }
            peerings.append(
                BulkPeering(
                    device: session.device, runID: session.runID, dial: session.id.isOutbound ? session.remote : nil))
        }
        guard peerings != bulkPeers else { return }
        for old in bulkPeers where !peerings.contains(where: { $0.device == old.device && $0.runID == old.runID }) {
            output.emit(.bulkPeerDown(old.device))
        }
        for new in peerings where !bulkPeers.contains(new) {
            output.emit(.bulkPeerUp(new.device, dial: new.dial))
        }
        bulkPeers = peerings
    }
}
