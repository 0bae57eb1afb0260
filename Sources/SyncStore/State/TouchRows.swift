import SyncModel

/// The vector of changes that touched each object, and the lives it keeps. It is stored beside the object, so that a state
/// delta is made without reading what the receiver has.
struct TouchRows {
    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    // Writing

    /// A vector as the column says it: short, for a space has few replicas, and many objects.
    func column(_ touched: VersionVector) throws(StoreError) -> [UInt8] {
        var entries: [(row: Int64, next: UInt64)] = []
        for entry in touched.entries { entries.append((try log.replicaRow(entry.replica), entry.next)) }
        var bytes: [UInt8] = []
        for entry in entries.sorted(by: { $0.row < $1.row }) {
            bytes.append(varint: UInt64(entry.row))
            bytes.append(varint: entry.next)
        }
        return bytes
    }

    /// - Parameters: the births of the lives that an object keeps, ascending.
    func write(from before: [Dot], to after: [Dot], of object: Int64) throws(StoreError) {
        guard before != after else { return }
        for birth in before where !after.contains(birth) {
            try access.run(
                "DELETE FROM birth WHERE replica = ? AND counter = ?", .integer(try log.replicaRow(birth.replica)),
                .integer(Int64(birth.counter)))
        }
        for birth in after where !before.contains(birth) { try insert(birth, of: object) }
    }

    private func insert(_ birth: Dot, of object: Int64) throws(StoreError) {
        try access.run(
            "INSERT OR REPLACE INTO birth (replica, counter, object) VALUES (?, ?, ?)",
            .integer(try log.replicaRow(birth.replica)), .integer(Int64(birth.counter)), .integer(object))
    }

    /// True if an older program left objects without these rows.
    var isFillingDue: Bool {
        get throws(StoreError) {
            try access.first("SELECT 1 FROM object WHERE touched_stamp IS NULL LIMIT 1") { row throws(StoreError) in
                row.integer(0)
            } != nil
        }
    }

    /// Notes it of every object of which it is not noted, from its state.
    func fill() throws(StoreError) {
        let objects = ObjectRows(log)
        for collection in try objects.collections() {
            try objects.objects(of: collection.name) { object throws(StoreError) in
                guard let row = try objects.objectRow(object.key) else { return true }
                try access.run(
                    "UPDATE object SET touched = ?, touched_stamp = ? WHERE id = ?",
                    .blob(try column(object.state.lives.touched)),
                    .integer(LogRows.column(object.state.lives.greatestStamp)), .integer(row))
                try write(from: [], to: object.births, of: row)
                return true
            }
        }
    }
}

/// Reads `object.touched` back; knows the replicas of one transaction.
struct TouchedVectors {
    private let replicas: [Int64: ReplicaID]

    init(_ log: LogRows) throws(StoreError) {
        var replicas: [Int64: ReplicaID] = [:]
        try log.access.forEach("SELECT id, replica FROM replica WHERE space = ?", .integer(log.spaceRow)) {
            row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(1)) else {
                throw .corrupt(detail: "a replica's row does not read back")
            }
            replicas[row.integer(0)] = replica
            return true
        }
        self.replicas = replicas
    }

    func vector(_ bytes: [UInt8]) throws(StoreError) -> VersionVector {
        var reader = ByteReader(bytes)
        var entries: [VersionVector.Entry] = []
        while !reader.isAtEnd {
            guard let row = try? reader.varint(upTo: UInt64(Int64.max), "touched"), let next = try? reader.varint(),
                let replica = replicas[Int64(row)]
            else { throw .corrupt(detail: "what has touched an object does not read back") }
            entries.append(VersionVector.Entry(replica: replica, next: next))
        }
        return VersionVector(entries)
    }
}
