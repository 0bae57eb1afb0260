import LawHistories
import SyncCore
import SyncModel
import SyncStore

/// The same digest, and the same that authors had seen, by every road: kept step by step, computed anew, found after a restart, and in a fresh store that is
/// fed the same changes in another causal order.
struct SameDigestChecker: Checker {
    static let name = "same digest by every road"

    /// The digest after the node's last transaction.
    private var kept: [Int: Sum256] = [:]
    private var random: SplitMix64
    private let faults: StoreFaults

    init(seed: UInt64, faults: StoreFaults) {
        random = SplitMix64(seed: seed ^ 0x726f_6164_7321)
        self.faults = faults
    }

    mutating func committed(node: Int, digest: Sum256) -> String? {
        kept[node] = digest
        return nil
    }

    mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String? {
        kept[node] = nil
        return nil
    }

    mutating func sealed(node: Int, before: Sum256, after: Sum256) -> String? {
        before == after ? nil : "node \(node) had the digest \(before), and \(after) once its open changes were sealed"
    }

    mutating func started(node: Int, digest: Sum256) -> String? {
        guard let before = kept[node], before != digest else { return nil }
        return "node \(node) starts with the digest \(digest), and had \(before)"
    }

    mutating func tookBack(node: Int, device: DeviceID, now: VersionVector) -> String? {
        kept[node] = nil
        return nil
    }

    mutating func compared(_ nodes: [ComparedNode], apartFrom readmitted: Set<DeviceID>) -> String? {
        for (index, node) in nodes.enumerated() {
            for other in nodes[..<index]
            where other.holds == node.holds && other.heads == node.heads && other.trust == node.trust
                && other.digest != node.digest
            {
                if !readmitted.isEmpty, (try? Self.differOnly(other.store, node.store, where: readmitted)) ?? false {
                    continue
                }
                return "nodes \(other.number) and \(node.number) hold the same changes, and have the digests "
                    + "\(other.digest) and \(node.digest)" + Self.difference(other.store, node.store, past: nil)
            }
        }
        return nil
    }

    mutating func inspected(_ inspection: Inspection) -> String? {
        let node = inspection.node
        let digest = inspection.digest
        guard let recomputed = try? inspection.store.recomputedDigest(of: .home) else { return nil }
        guard digest == recomputed else {
            return "node \(node) keeps the digest \(digest), and what it holds gives \(recomputed)"
        }
        guard inspection.isThorough, !inspection.mayMix else { return nil }
        do {
            guard
                let fresh = try ReplayedStore.make(
                    of: inspection.store, past: inspection.past, faults: faults, using: &random)
            else {
                return "node \(node) holds changes without what they wait for"
            }
            if let wrong = try Self.misread(inspection.store, fresh) { return "node \(node) " + wrong }
            let replayed = try fresh.logState().digest
            if replayed == digest { return nil }
            // Of these others say whether they are in one of their two states.
            let open = inspection.leftOpen.rules.keys
            if try Self.digest(of: inspection.store, without: open) == Self.digest(of: fresh, without: open) {
                return nil
            }
            return "node \(node) has the digest \(digest); the same changes in another order give \(replayed)"
                + Self.difference(inspection.store, fresh, past: inspection.past)
        } catch { return "what node \(node) holds cannot be applied in another order: \(error)" }
    }

    /// True if these devices have worked on each object in which two stores differ.
    private static func differOnly(
        _ left: SQLiteStore, _ right: SQLiteStore, where devices: Set<DeviceID>
    ) throws(StoreError) -> Bool {
        let keys = try Set((left.everyObject + right.everyObject).map(\.key))
        for key in keys {
            let both = [try left.object(key, space: .home), try right.object(key, space: .home)]
            if both[0]?.summary.digest == both[1]?.summary.digest { continue }
            let touched = both.flatMap { $0?.state.lives.touched.entries ?? [] }
            guard touched.contains(where: { devices.contains($0.replica.device) }) else { return false }
        }
        return true
    }

    /// An author that is taken to have seen something else than its changes say.
    private static func misread(
        _ store: SQLiteStore, _ fresh: SQLiteStore
    ) throws(StoreError) -> String? {
        for known in try store.logState().tips {
            let (context, said) = (try store.context(of: known.replica), try fresh.context(of: known.replica))
            if context != said { return "takes \(known.replica) to have seen \(context), and it says \(said)" }
        }
        return nil
    }

    /// Returns the digest without these objects.
    private static func digest(
        of store: SQLiteStore, without objects: some Sequence<ObjectKey>
    ) throws(StoreError) -> Sum256 {
        var digest = try store.logState().digest
        for key in objects {
            guard let state = try store.object(key, space: .home)?.state else { continue }
            if let term = state.digestTerm(of: key) { digest -= term }
            for attachment in state.shownAttachments { digest -= attachment.digestTerm(of: key) }
        }
        return digest
    }

    /// Returns the operations on the object in the logs, by their dots.
    private static func history(of key: ObjectKey, past: WrittenChanges?, _ stores: SQLiteStore...) -> String {
        stores.map { store in "; log: " + ((try? ObjectLedger(store, past: past))?.log(of: key) ?? "none") }.joined()
    }

    /// The first object that is another.
    private static func difference(
        _ store: SQLiteStore, _ fresh: SQLiteStore, past: WrittenChanges?
    ) -> String {
        for collection in (try? store.collections(of: .home)) ?? [] {
            let other = (try? fresh.schema(of: collection.name, space: .home)) ?? nil
            if other != collection.schema {
                return "; first the schema of \(collection.name): \(collection.schema?.json.text ?? "none"), "
                    + "\(other?.json.text ?? "none")"
            }
        }
        let objects = ((try? store.everyObject) ?? []) + ((try? fresh.everyObject) ?? [])
        for key in Set(objects.map(\.key)).sorted() {
            let both = [store, fresh].map { (try? $0.object(key, space: .home)) ?? nil }
            let digests = both.map { $0?.summary.digest }
            let attached = both.map { Set($0?.summary.attachments ?? []) }
            if digests[0] == digests[1], attached[0] == attached[1] { continue }
            let shown = both.map { stored in
                stored.map { "\($0.summary.standing) \($0.reading(nil, isLive: { _ in true }).json.text)" } ?? "none"
            }
            return
                "; first \(key): \(shown.joined(separator: " and "))\(attached[0] == attached[1] ? "" : ", attached \(attached)")"
                + history(of: key, past: past, store, fresh)
        }
        for stream in (try? store.streams(of: .home)) ?? [] {
            let lists = [store, fresh].map { one in
                Set(
                    ((try? one.events(
                        EventQuery(
                            space: .home, stream: stream.name, order: .arrival(after: 0), limit: .max,
                            byteBudget: .max))) ?? []).map(\.dot))
            }
            guard lists[0] != lists[1] else { continue }
            let apart = lists.map { list in list.subtracting(lists[0].intersection(lists[1])).sorted() }
            return "; first events of \(stream.name): only here \(apart[0]), only there \(apart[1])"
        }
        return ""
    }
}

extension SQLiteStore {
    /// All objects in the order of their keys, whatever their standing.
    var everyObject: [StoredObject] {
        get throws(StoreError) {
            try changedObjects(of: nil, space: .home, after: 0, limit: .max).sorted { $0.key < $1.key }
        }
    }
}
