/// The answers of `TrustLaw` at all known facts: which role each device has, and where its histories end.
package struct TrustVerdicts: Hashable, Sendable {
    /// The ends of one device's histories for what needs a writer.
    private struct Ends: Hashable, Sendable {
        /// The end of the histories that no fact tells of.
        var others: UInt64
        /// The ends of those that differ.
        var byReplica: [ReplicaID: UInt64] = [:]
    }

    /// The members' roles. A device that is barred, or that no fact connects with the founder yet, is not among them.
    package private(set) var roles: [DeviceID: MemberFact.Role] = [:]
    /// The devices that a revocation keeps out, with its dot.
    package private(set) var revocations: [DeviceID: Dot] = [:]
    /// The statements that have effect.
    package private(set) var counting: Set<Dot> = []
    /// The add-facts that admit their devices.
    package private(set) var admitting: Set<Dot> = []
    /// Devices that were revoked, or that only void facts admitted; sorted.
    package private(set) var barred: [DeviceID] = []
    /// The first key that the founder named, by dot, while it could (`TrustLaw.mayName`).
    let recoveryKey: [UInt8]?
    private var ends: [DeviceID: Ends] = [:]

    /// - Parameter founder: the device whose space this node is in.
    init(
        _ table: TrustTable, _ additions: [TrustLaw.Addition], founder: DeviceID, key: [UInt8]?, space: SpaceID,
        faults: TrustFaults = []
    ) {
        let law = TrustLaw(table, additions, founder: founder, key: key, space: space, faults: faults)
        recoveryKey =
            law.rows.filter { row in
                row.dot.replica.device == founder && law.mayName(keyAt: row.dot)
            }.sorted { $0.dot < $1.dot }.lazy.compactMap { row in
                if case .recoveryKey(let key) = row.statement.content { key } else { nil }
            }.first
        counting = Set(law.rows.indices.filter(law.counts).map { law.rows[$0].dot })
        admitting = Set(law.state.grants.additions.map { law.additions[$0].dot })
        var told: [DeviceID: Set<ReplicaID>] = [:]
        for row in law.rows {
            guard let device = row.statement.device else { continue }
            for end in row.statement.ends {
                told[device, default: []].insert(ReplicaID(device: device, incarnation: end.incarnation))
            }
            told[row.dot.replica.device, default: []].insert(row.dot.replica)
        }
        for start in table.starts { told[start.replica.device, default: []].insert(start.replica) }
        let devices = Set([founder] + additions.map(\.device) + law.rows.compactMap(\.statement.device))
        for device in devices {
            roles[device] = law.role(of: device)
            revocations[device] = law.revocation(of: device)
            let replicas = told[device] ?? []
            let unknown = (UInt64(0)...).lazy.map { ReplicaID(device: device, incarnation: $0) }
                .first { !replicas.contains($0) }
            var ends = Ends(others: unknown.map(law.strictEnd) ?? 0)
            for replica in replicas {
                let end = law.strictEnd(of: replica)
                if end != ends.others { ends.byReplica[replica] = end }
            }
            if ends.others != .max || !ends.byReplica.isEmpty { self.ends[device] = ends }
        }
        barred = devices.filter(law.isBarred).sorted()
    }

    /// Returns the counter from which on everything of the replica is void; nil if nothing is.
    package func strictEnd(of replica: ReplicaID) -> UInt64? {
        guard let ends = ends[replica.device] else { return nil }
        let end = ends.byReplica[replica] ?? ends.others
        return end == .max ? nil : end
    }
}
