import SyncModel

// The founder that this device follows.
extension LogRows {
    func founder() throws(StoreError) -> DeviceID? {
        try access.first("SELECT founder FROM space WHERE id = ? AND founder IS NOT NULL", .integer(spaceRow)) {
            row throws(StoreError) in row.blob(0)
        }.flatMap { DeviceID(bytes: $0) }
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
