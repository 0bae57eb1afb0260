import SyncModel

// The founder that this device follows.
extension LogRows {
    /// Reads by which founder and recovery key roles are judged.
    func readFounding(into state: inout LogState) throws(StoreError) {
        let founding = try access.first("SELECT own, founder, recovery_key FROM space WHERE id = ?", .integer(spaceRow))
        {
            row throws(StoreError) in
            func device(_ column: Int32) throws(StoreError) -> DeviceID? {
                if row.isNull(column) { return nil }
                guard let device = DeviceID(bytes: row.blob(column)) else {
                    throw .corrupt(detail: "the founder is no device id")
                }
                return device
            }
            return (own: try device(0), founder: try device(1), key: row.isNull(2) ? nil : row.blob(2))
        }
        guard let founding else { return }
        let hasHost = try founding.own.map { own throws(StoreError) in try namesHost(own) } ?? false
        state.recordFounding(
            own: founding.own, founder: founding.founder, hasHost: hasHost, recoveryKey: founding.key)
    }

    /// Notes whose store it is. A store that was moved to another device becomes that device's.
    func write(own device: DeviceID) throws(StoreError) {
        try access.run(
            "UPDATE space SET own = ?1 WHERE id = ?2 AND own IS NOT ?1", .blob(device.bytes), .integer(spaceRow))
    }

    func write(founder: DeviceID) throws(StoreError) {
        try access.run("UPDATE space SET founder = ? WHERE id = ?", .blob(founder.bytes), .integer(spaceRow))
    }

    /// True if the device said through which host it joined.
    func namesHost(_ device: DeviceID) throws(StoreError) -> Bool {
        var namesHost = false
        try access.forEach(
            "SELECT fact FROM addition WHERE space = ? AND author = ?", .integer(spaceRow), .blob(device.bytes)
        ) { row throws(StoreError) in
            namesHost = try Self.fact(row.blob(0)).isHost
            return !namesHost
        }
        return namesHost
    }

    /// Looks for the founder by the facts: for a store of before founders, and for a device whose host is of a version of before.
    /// What is found is written, and does not change any more.
    ///
    /// - Returns: nil if the device names no host, or the facts do not lead to a founder (`Pairings.founder`).
    func findFounder(of device: DeviceID) throws(StoreError) -> DeviceID? {
        guard try namesHost(device) else { return nil }
        var pairings = Pairings()
        try forEachAddition { addition, _ in if addition.fact.isBound { pairings.record(addition) } }
        guard let founder = pairings.founder(followedFrom: device) else { return nil }
        try write(founder: founder)
        return founder
    }
}
