import SyncModel

/// The rows of a state delta that is being received.
struct StagingRows {
    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    /// The request, and the number of times it was made.
    struct Header: Sendable {
        let since: VersionVector
        let stream: Int64
    }

    func header() throws(StoreError) -> Header? {
        try access.first("SELECT since, stream FROM staging WHERE space = ?", .integer(log.spaceRow)) {
            row throws(StoreError) in
            guard let since = VectorColumn.decoded(row.blob(0)) else {
                throw .corrupt(detail: "what a state was asked for since is no vector")
            }
            return Header(since: since, stream: row.integer(1))
        }
    }

    /// A stream begins: objects and events that are staged already may serve again, as far as the stream that brought them said
    /// that they came as it sent them; all else comes anew.
    /// - Parameters:
    ///   - held: asked for when there is no staging yet.
    ///   - isIncomplete: objects may be wrong here, so all of each is asked for.
    func begin(held: VersionVector, isIncomplete: Bool, _ faults: StoreFaults) throws(StoreError) -> Header {
        var known = try header()
        if isIncomplete, let begun = known, !begun.since.isEmpty {
            try discard()
            known = nil
        }
        let header = Header(
            since: known?.since ?? (isIncomplete ? VersionVector() : held), stream: (known?.stream ?? 0) + 1)
        if known == nil {
            try access.run(
                "INSERT INTO staging (space, since, stream) VALUES (?, ?, ?)", .integer(log.spaceRow),
                .blob(VectorColumn.encoded(header.since)), .integer(header.stream))
        } else {
            try access.run(
                "UPDATE staging SET stream = ? WHERE space = ?", .integer(header.stream), .integer(log.spaceRow))
        }
        for table in ["object", "residue"] where !faults.contains(.stateHalfStaged) {
            try access.run(
                "DELETE FROM staged_\(table) WHERE id > (SELECT checked_\(table) FROM staging WHERE space = ?)",
                .integer(log.spaceRow))
        }
        // The sender of the rest may not know which of the received events are dropped: then no sender would say so.
        if try hasDropped() { try access.run("DELETE FROM staged_residue") }
        try access.run("DELETE FROM staged_item")
        try access.run("DELETE FROM staged_birth")
        return header
    }

    private func hasDropped() throws(StoreError) -> Bool {
        try items().contains { item in
            if case .dropped = item { true } else { false }
        }
    }

    /// All that is staged by now is as it was sent.
    private func recordChecked() throws(StoreError) {
        for table in ["object", "residue"] {
            try access.run(
                "UPDATE staging SET checked_\(table) = ifnull((SELECT max(id) FROM staged_\(table)), 0) WHERE space = ?",
                .integer(log.spaceRow))
        }
    }

    func discard() throws(StoreError) {
        try access.run("DELETE FROM staging WHERE space = ?", .integer(log.spaceRow))
        for table in ["staged_object", "staged_residue", "staged_birth", "staged_item"] {
            try access.run("DELETE FROM \(table)")
        }
    }

    /// True if a stream that begins now may skip an object.
    func hasObjects() throws(StoreError) -> Bool {
        try access.first("SELECT 1 FROM staged_object WHERE state IS NOT NULL LIMIT 1") { row throws(StoreError) in
            row.integer(0)
        } != nil
    }

    /// Per replica, behind the events that are staged.
    func stagedEvents() throws(StoreError) -> VersionVector {
        var entries: [VersionVector.Entry] = []
        try access.forEach("SELECT replica, max(end) FROM staged_residue GROUP BY replica") { row throws(StoreError) in
            entries.append(VersionVector.Entry(replica: try Self.replica(row, 0), next: UInt64(row.integer(1))))
            return true
        }
        return VersionVector(entries)
    }

    func isStaged(_ announcement: StateAnnouncement, _ faults: StoreFaults) throws(StoreError) -> Bool {
        let staged = try access.first(
            "SELECT digest, state IS NOT NULL FROM staged_object WHERE collection = ? AND key = ?",
            .text(announcement.key.collection.string), .text(announcement.key.id.string)
        ) { row throws(StoreError) in
            (digest: row.blob(0), isHere: row.integer(1) != 0 || faults.contains(.stateHalfStaged))
        }
        guard let staged, staged.isHere else { return false }
        return staged.digest == announcement.digest || faults.contains(.stateStagedByName)
    }

    /// Stages an object that the receiver has exactly as the sender: as if it had come already, with nothing in it. The
    /// vector of touches tells, unless the object came as state and was changed since: for each author it names the last
    /// operation only, and one before it may have been left out as void.
    func stageAsHeld(_ announcement: StateAnnouncement, _ touched: TouchedVectors) throws(StoreError) -> Bool {
        let (collection, key) = (announcement.key.collection.string, announcement.key.id.string)
        let column = try access.first(
            """
            SELECT object.touched FROM object JOIN collection ON collection.id = object.collection
            WHERE collection.space = ? AND collection.name = ? AND object.key = ? AND object.history != 2
            """, .integer(log.spaceRow), .text(collection), .text(key)
        ) { row throws(StoreError) in row.blob(0) }
        guard let column else { return false }
        let held = StateAnnouncement(key: announcement.key, touched: try touched.vector(column))
        guard held == announcement else { return false }
        try access.run(
            "INSERT OR REPLACE INTO staged_object (collection, key, digest, stream, state) VALUES (?, ?, ?, 0, x'')",
            .text(collection), .text(key), .blob(announcement.digest))
        return true
    }

    /// - Parameter announced: the object that the item before announced.
    func stage(
        _ item: StateItem, announced: StateAnnouncement?, _ header: Header, _ faults: StoreFaults
    ) throws(StoreError) {
        switch item {
        case .announcement(let announcement): try announce(announcement, header, faults)
        case .object(let object):
            guard let announced else { throw .refused(.outOfOrder) }
            try access.run(
                "UPDATE staged_object SET state = ?, digest = ? WHERE collection = ? AND key = ?",
                .blob(object.canonicalBytes), .blob(announced.digest), .text(announced.key.collection.string),
                .text(announced.key.id.string))
        case .events(let residue):
            try access.run(
                "INSERT OR REPLACE INTO staged_residue (replica, start, end, context, bytes) VALUES (?, ?, ?, ?, ?)",
                .blob(residue.replica.bytes), .integer(Int64(residue.start)), .integer(Int64(residue.end)),
                .blob(VectorColumn.encoded(VersionVector(residue.context))), .blob(residue.canonicalBytes))
        case .births(let births):
            for run in births.runs {
                try access.run(
                    "INSERT OR REPLACE INTO staged_birth (replica, start, end) VALUES (?, ?, ?)",
                    .blob(births.replica.bytes), .integer(Int64(run.lowerBound)), .integer(Int64(run.upperBound)))
            }
        case .check: try recordChecked()
        case .fact, .cuts, .schema, .stream, .dropped, .tip, .end:
            if case .end = item { try recordChecked() }
            try access.run("INSERT INTO staged_item (item) VALUES (?)", .blob(item.canonicalBytes))
        }
    }

    private func announce(
        _ announcement: StateAnnouncement, _ header: Header, _ faults: StoreFaults
    ) throws(StoreError) {
        let (collection, key) = (announcement.key.collection.string, announcement.key.id.string)
        if try isStaged(announcement, faults) {
            try access.run(
                "UPDATE staged_object SET stream = ? WHERE collection = ? AND key = ?", .integer(header.stream),
                .text(collection), .text(key))
        } else {
            try access.run(
                """
                INSERT OR REPLACE INTO staged_object (collection, key, digest, stream, state) VALUES (?, ?, ?, ?, NULL)
                """, .text(collection), .text(key), .blob(announcement.digest), .integer(header.stream))
        }
    }

    // Reading what was staged

    func items() throws(StoreError) -> [StateItem] {
        var items: [StateItem] = []
        try access.forEach("SELECT item FROM staged_item ORDER BY id") { row throws(StoreError) in
            items.append(try ObjectRows.value(row.blob(0), "a staged item does not read back"))
            return true
        }
        return items
    }

    /// True if an object was announced and not received.
    func lacksObjects(_ header: Header) throws(StoreError) -> Bool {
        try access.first(
            "SELECT 1 FROM staged_object WHERE stream = ? AND state IS NULL LIMIT 1", .integer(header.stream)
        ) { row throws(StoreError) in row.integer(0) } != nil
    }

    /// The next object behind a row that the newest stream has announced.
    func object(
        behind row: Int64, _ header: Header
    ) throws(StoreError) -> (row: Int64, key: ObjectKey, bytes: [UInt8])? {
        try access.first(
            "SELECT id, collection, key, state FROM staged_object WHERE id > ? AND stream = ? AND length(state) > 0 ORDER BY id LIMIT 1",
            .integer(row), .integer(header.stream)
        ) { row throws(StoreError) in
            let key = ObjectKey(collection: ExactString(row.text(1)), id: ExactString(row.text(2)))
            return (row.integer(0), key, row.blob(3))
        }
    }

    /// Objects here that the newest stream did not announce, by row, with what has touched them.
    func unannounced(
        behind row: Int64, limit: Int64, _ header: Header
    ) throws(StoreError) -> [(row: Int64, key: ObjectKey, touched: [UInt8])] {
        var found: [(row: Int64, key: ObjectKey, touched: [UInt8])] = []
        try access.forEach(
            """
            SELECT object.id, collection.name, object.key, object.touched
            FROM object JOIN collection ON collection.id = object.collection
            WHERE collection.space = ? AND object.id > ?
                AND NOT EXISTS (SELECT 1 FROM staged_object
                    WHERE staged_object.collection = collection.name AND staged_object.key = object.key
                        AND staged_object.stream = ?)
            ORDER BY object.id LIMIT ?
            """, .integer(log.spaceRow), .integer(row), .integer(header.stream), .integer(limit)
        ) { row throws(StoreError) in
            let key = ObjectKey(collection: ExactString(row.text(1)), id: ExactString(row.text(2)))
            found.append((row.integer(0), key, row.blob(3)))
            return true
        }
        return found
    }

    /// Births of lives kept here that the sender's vector covers and that it has no more, of objects that it did not announce:
    /// of those it has said itself what is left.
    func goneBirths(
        of replica: VersionVector.Entry, behind counter: Int64, limit: Int64, _ header: Header
    ) throws(StoreError) -> [(birth: Dot, key: ObjectKey)] {
        var gone: [(birth: Dot, key: ObjectKey)] = []
        guard let row = try log.findReplica(replica.replica) else { return gone }
        try access.forEach(
            """
            SELECT birth.counter, collection.name, object.key
            FROM birth JOIN object ON object.id = birth.object JOIN collection ON collection.id = object.collection
            WHERE birth.replica = ? AND birth.counter > ? AND birth.counter < ?
                AND birth.counter >= ifnull((SELECT staged_birth.end FROM staged_birth
                    WHERE staged_birth.replica = ? AND staged_birth.start <= birth.counter
                    ORDER BY staged_birth.start DESC LIMIT 1), 0)
                AND NOT EXISTS (SELECT 1 FROM staged_object
                    WHERE staged_object.collection = collection.name AND staged_object.key = object.key
                        AND staged_object.stream = ?)
            ORDER BY birth.counter LIMIT ?
            """, .integer(row), .integer(counter), .integer(Int64(clamping: replica.next)),
            .blob(replica.replica.bytes), .integer(header.stream), .integer(limit)
        ) { row throws(StoreError) in
            let key = ObjectKey(collection: ExactString(row.text(1)), id: ExactString(row.text(2)))
            gone.append((Dot(replica: replica.replica, counter: UInt64(row.integer(0))), key))
            return true
        }
        return gone
    }

    // Residues

    struct ResidueHead: Sendable {
        let row: Int64
        let replica: ReplicaID
        let start: UInt64
        let context: VersionVector
    }

    func replicasWithEvents() throws(StoreError) -> [ReplicaID] {
        var replicas: [ReplicaID] = []
        try access.forEach("SELECT DISTINCT replica FROM staged_residue ORDER BY replica") { row throws(StoreError) in
            replicas.append(try Self.replica(row, 0))
            return true
        }
        return replicas
    }

    /// The first residue of a replica from a counter on.
    func residue(of replica: ReplicaID, from start: UInt64) throws(StoreError) -> ResidueHead? {
        try access.first(
            "SELECT id, start, context FROM staged_residue WHERE replica = ? AND start >= ? ORDER BY start LIMIT 1",
            .blob(replica.bytes), .integer(Int64(clamping: start))
        ) { row throws(StoreError) in
            guard let context = VectorColumn.decoded(row.blob(2)) else {
                throw .corrupt(detail: "what a residue waits for is no vector")
            }
            return ResidueHead(
                row: row.integer(0), replica: replica, start: UInt64(row.integer(1)), context: context)
        }
    }

    func residue(_ head: ResidueHead) throws(StoreError) -> EventResidue {
        let bytes = try access.first("SELECT bytes FROM staged_residue WHERE id = ?", .integer(head.row)) {
            row throws(StoreError) in row.blob(0)
        }
        return try ObjectRows.value(bytes ?? [], "a staged residue does not read back")
    }

    private static func replica(_ row: SQLRow, _ column: Int32) throws(StoreError) -> ReplicaID {
        guard let replica = ReplicaID(bytes: row.blob(column)) else {
            throw .corrupt(detail: "a staged replica does not read back")
        }
        return replica
    }
}
