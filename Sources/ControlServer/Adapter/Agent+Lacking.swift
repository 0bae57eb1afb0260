import ControlAPI
import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// Objects that a device lacks, by name: the number of changes alone does not tell a person what is at stake.
extension Agent {
    /// The number of objects, those that changed last, that are looked at.
    private static let lackingLookCount = 1_000

    /// Returns what a device lacks by its own word; nil while it has said nothing.
    func lacking(_ device: DeviceID?, _ now: AgentSnapshot) async throws(ControlError) -> WhyResponse.Lacking? {
        guard let known = now.standings.first(where: { $0.device == device })?.known else { return nil }
        return try await stored { () throws(StoreError) in
            let changes = Int(try store.changeCount(beyond: known))
            guard changes > 0 else { return WhyResponse.Lacking(changes: 0, objects: []) }
            let start = max(0, try store.objectPosition() - Int64(Self.lackingLookCount))
            let newest = try store.changedObjects(
                of: nil, space: .home, after: start, limit: Self.lackingLookCount)
            let lacking = newest.reversed().lazy.filter { object in
                object.newestDot.map { !known.covers($0) } ?? false
            }
            return WhyResponse.Lacking(
                changes: changes,
                objects: lacking.prefix(WhyResponse.Lacking.mostObjects).map {
                    "\($0.key.collection.string)/\($0.key.id.string)"
                })
        }
    }

    /// Returns the names of the devices that have not said to hold the newest version of an object, sorted.
    ///
    /// - Parameter name: `COLLECTION/ID`.
    func devices(lacking name: String, _ now: AgentSnapshot) async throws(ControlError) -> [String] {
        let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return [] }
        let key = ObjectKey(collection: ExactString(String(parts[0])), id: ExactString(String(parts[1])))
        let newest = try await stored { () throws(StoreError) in
            try store.object(key, space: .home)?.newestDot
        }
        guard let newest else { return [] }
        return now.standings.filter { $0.known?.covers(newest) != true }.map { now.name(of: $0.device) }.sorted()
    }
}

extension StoredObject {
    /// The operation that made it what it is now: its deletion, or the one applied last.
    fileprivate var newestDot: Dot? { deletion?.dot ?? version }
}
