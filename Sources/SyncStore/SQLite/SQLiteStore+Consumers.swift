package import SyncModel

extension SQLiteStore {
    package func consumers(of space: SpaceID) throws(StoreError) -> [Consumer] {
        try readLog(space) { rows throws(StoreError) in
            var consumers: [Consumer] = []
            try rows.access.forEach(
                """
                SELECT name, stream, position, delivered FROM consumer WHERE space = ? ORDER BY name, stream
                """, .integer(rows.spaceRow)
            ) { row throws(StoreError) in
                consumers.append(
                    Consumer(
                        name: row.text(0), stream: row.text(1), position: row.integer(2), delivered: row.integer(3)))
                return true
            }
            return consumers
        } ?? []
    }

    package func consumer(_ name: String, stream: String, space: SpaceID) throws(StoreError) -> Consumer {
        let known = try readLog(space) { rows throws(StoreError) in try rows.consumer(name, stream) }
        if let known = known ?? nil { return known }
        return try move(name, stream, space) { known, _ in known }
    }

    package func acknowledge(
        consumer: String, stream: String, space: SpaceID, position: Int64, rewinding: Bool
    ) throws(StoreError) {
        _ = try move(consumer, stream, space) { known, newest in
            known.acknowledging(position, newest: newest, rewinding: rewinding)
        }
    }

    package func noteDelivered(
        consumer: String, stream: String, space: SpaceID, position: Int64
    ) throws(StoreError) {
        _ = try move(consumer, stream, space) { known, newest in known.delivering(position, newest: newest) }
    }

    package func removeConsumer(_ name: String, space: SpaceID) throws(StoreError) -> Bool {
        let isKnown = try consumers(of: space).contains { Name.Bytes($0.name) == Name.Bytes(name) }
        guard isKnown else { return false }
        try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { return }
            try access.run(
                "DELETE FROM consumer WHERE space = ? AND name = ?", .integer(rows.spaceRow), .text(name))
        }
        return true
    }

    /// Changes a cursor in one transaction; one that did not move costs no write.
    private func move(
        _ name: String, _ stream: String, _ space: SpaceID, _ body: (Consumer, _ newest: Int64) -> Consumer
    ) throws(StoreError) -> Consumer {
        let known = try readLog(space) { rows throws(StoreError) -> (Consumer?, Int64) in
            (try rows.consumer(name, stream), try rows.lastPosition())
        }
        if case (let consumer?, let newest)? = known, body(consumer, newest) == consumer { return consumer }
        return try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { throw .corrupt(detail: "the space has no row") }
            let known = try rows.consumer(name, stream)
            let moved = body(
                known ?? Consumer(name: name, stream: stream, position: 0, delivered: 0),
                try rows.lastPosition())
            try access.run(
                """
                INSERT INTO consumer (space, name, stream, position, delivered) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (space, name, stream) DO UPDATE SET position = excluded.position,
                    delivered = excluded.delivered
                """, .integer(rows.spaceRow), .text(name), .text(stream), .integer(moved.position),
                .integer(moved.delivered))
            return moved
        }
    }
}

extension LogRows {
    fileprivate func consumer(_ name: String, _ stream: String) throws(StoreError) -> Consumer? {
        try access.first(
            "SELECT position, delivered FROM consumer WHERE space = ? AND name = ? AND stream = ?",
            .integer(spaceRow), .text(name), .text(stream)
        ) { row throws(StoreError) in
            Consumer(name: name, stream: stream, position: row.integer(0), delivered: row.integer(1))
        }
    }
}
