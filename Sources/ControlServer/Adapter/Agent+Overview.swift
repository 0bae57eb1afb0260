package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore
import SyncTransport

// All that the dashboard shows of this node without being asked for more.
extension Agent {
    /// The objects that an overview lists at most. After a large import the newest are enough for a person.
    private static let activityCount = 50
    /// The conflicts that it lists at most.
    private static let conflictCount = 256

    /// Returns the overview. What is about objects is read only if they may have changed.
    ///
    /// - Parameters:
    ///   - position: only objects that changed behind it are listed; nil: those that changed last.
    ///   - conflicts: the conflicts of an overview since which no object has changed; nil: they are read.
    package func overview(
        after position: UInt64? = nil, keeping conflicts: [ConflictEntry]? = nil
    ) async throws(ControlError) -> Overview {
        let status = try await status(space: nil)
        let known = try await controlled { try await snapshot() }
        var open = conflicts ?? []
        if conflicts == nil, status.spaces.contains(where: { $0.conflicts > 0 }) {
            open = Array(try await self.conflicts(space: Self.homeName, collection: nil).prefix(Self.conflictCount))
        }
        let versions = known.peers.compactMap { peer in
            peer.agentVersion.isEmpty
                ? nil : peer.device.map { Overview.AgentVersion(id: "\($0)", version: peer.agentVersion) }
        }
        return Overview(
            status: status, why: try await why(nil, space: nil), peers: try await peers(),
            devices: try await devices(space: Self.homeName),
            versions: [.init(id: "\(device)", version: version)] + versions, disk: disk, conflicts: open,
            changes: try await activity(after: position))
    }

    /// Returns the objects that changed behind `position`, by position; of many only the newest.
    private func activity(after position: UInt64?) async throws(ControlError) -> [Overview.Activity] {
        try await stored { () throws(StoreError) in
            let newest = try store.objectPosition()
            let start = max(newest - Int64(Self.activityCount), Int64(clamping: position ?? 0))
            let objects = try store.shownChanges(of: nil, space: .home, after: start, limit: Self.activityCount)
            return objects.map { object in
                let author = object.deletion?.dot.replica ?? object.version?.replica
                let time = object.deletion?.wallMilliseconds ?? object.changedMilliseconds
                return Overview.Activity(
                    position: UInt64(clamping: object.position), id: object.key.id.string,
                    collection: object.key.collection.string, deleted: object.summary.standing != .live,
                    device: author.map { "\($0.device)" }, time: Timestamp(millisecondsSinceEpoch: time))
            }
        }
    }

    /// The file system of the data directory.
    private var disk: Overview.Disk? {
        // To the MiB: a figure that changes with every file that is written would be told each time.
        DiskSpace(at: configuration.dataDirectory).map {
            Overview.Disk(freeBytes: $0.freeBytes & ~0xF_FFFF, totalBytes: $0.totalBytes)
        }
    }

    /// The hosts under which a browser on another device reaches this one.
    package var dashboardHosts: [String] { reachableAddresses.map(\.host) }

    /// The addresses, as `HOST:PORT`, at which other devices reach this one.
    var addresses: [String] { reachableAddresses.map { Self.text(host: $0.host, port: Int($0.port)) } }

    /// The versions of the signals after which an overview may differ.
    package struct OverviewVersions: Sendable, Equatable {
        let peers: UInt64
        let events: UInt64
        package let objects: UInt64
    }

    package var overviewVersions: OverviewVersions {
        OverviewVersions(peers: peerSignal.version, events: eventSignal.version, objects: objectSignal.version)
    }

    /// Returns when a peer, an event or an object has changed since `versions`, after `patience`, or when the task is cancelled.
    package func waitForNews(since versions: OverviewVersions, patience: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await peerSignal.wait(beyond: versions.peers) }
            group.addTask { [self] in await eventSignal.wait(beyond: versions.events) }
            group.addTask { [self] in await objectSignal.wait(beyond: versions.objects) }
            group.addTask { try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }
}
