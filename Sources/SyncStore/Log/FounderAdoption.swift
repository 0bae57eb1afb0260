import SyncModel

extension LogState {
    /// Adopts the founder that a host names, if the writes hold a fact by which this device joins through it.
    ///
    /// A device adopts a founder once: with its first host, and only while it knows no member. Otherwise two meshes meet, and it
    /// goes on with the founder that it has, or is, itself. A host of a version before founders names none: then the facts
    /// that come from it tell (`LogRows.findFounder`).
    ///
    /// - Parameter namesHost: true if this device has named a host before.
    /// - Returns: the writes, with the founder that this device follows in those facts.
    mutating func adoptFounder(
        _ writes: [LocalWrite], by device: DeviceID, namesHost: () throws(StoreError) -> Bool
    ) throws(StoreError) -> [LocalWrite] {
        guard writes.contains(where: \.namesHost) else { return writes }
        var adopting: [LocalWrite] = []
        for write in writes {
            guard write.namesHost, case .operations(let operations) = write else {
                adopting.append(write)
                continue
            }
            var following: [SyncModel.Operation] = []
            for operation in operations {
                guard case .addMember(let fact) = operation, fact.isHost else {
                    following.append(operation)
                    continue
                }
                if founder == nil {
                    if !members.additions.contains(where: { $0.device != device }) {
                        founder = fact.founder
                    } else if try !namesHost() {
                        founder = device
                    }
                }
                recordHost()
                following.append(.addMember(fact.following(founder)))
            }
            adopting.append(.operations(following))
        }
        return adopting
    }
}

extension LocalWrite {
    /// True for a fact by which this device joins through a host.
    fileprivate var namesHost: Bool {
        guard case .operations(let operations) = self else { return false }
        return operations.contains { operation in
            if case .addMember(let fact) = operation { fact.isHost } else { false }
        }
    }
}
