import Synchronization
package import SyncModel

extension SQLiteStore {
    package func addresses() throws(StoreError) -> [PeerAddress] {
        try read { access throws(StoreError) in
            var addresses: [PeerAddress] = []
            try access.forEach("SELECT host, port, device, is_static, last_connected FROM address ORDER BY id") {
                row throws(StoreError) in
                addresses.append(
                    PeerAddress(
                        host: row.text(0), port: UInt16(truncatingIfNeeded: row.integer(1)),
                        device: DeviceID(bytes: row.blob(2)), isStatic: row.integer(3) != 0,
                        lastConnectedMilliseconds: row.isNull(4) ? nil : row.integer(4)))
                return true
            }
            return addresses
        }
    }

    package func remember(_ address: PeerAddress) throws(StoreError) {
        try update { access throws(StoreError) in
            try access.run(
                """
                INSERT INTO address (host, port, device, is_static, last_connected) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (host, port) DO UPDATE SET device = excluded.device, is_static = excluded.is_static,
                    last_connected = excluded.last_connected
                """, .text(address.host), .integer(Int64(address.port)), .blob(address.device?.bytes),
                .integer(address.isStatic ? 1 : 0), .integer(address.lastConnectedMilliseconds))
        }
    }

    package func forget(host: String, port: UInt16) throws(StoreError) -> Bool {
        let isKnown = try addresses().contains { $0.host == host && $0.port == port }
        guard isKnown else { return false }
        try update { access throws(StoreError) in
            try access.run(
                "DELETE FROM address WHERE host = ? AND port = ?", .text(host), .integer(Int64(port)))
        }
        return true
    }

    package func tickets() throws(StoreError) -> [TicketRecord] {
        try read { access throws(StoreError) in
            var tickets: [TicketRecord] = []
            try access.forEach("SELECT secret, expires, role, until, used_by FROM ticket ORDER BY id") {
                row throws(StoreError) in
                // Only the program itself writes the column; that of a later one is not opened.
                guard let role = UInt64(exactly: row.integer(2)).flatMap({ MemberFact.Role(rawValue: $0) }) else {
                    throw .corrupt(detail: "a ticket's role is none")
                }
                tickets.append(
                    TicketRecord(
                        secret: row.blob(0), expiresMilliseconds: row.integer(1), role: role,
                        until: row.isNull(3) ? nil : UInt64(clamping: row.integer(3)),
                        usedBy: row.isNull(4) ? nil : DeviceID(bytes: row.blob(4))))
                return true
            }
            return tickets
        }
    }

    package func save(_ ticket: TicketRecord) throws(StoreError) {
        try update { access throws(StoreError) in
            try access.run(
                """
                INSERT INTO ticket (secret, expires, role, until, used_by) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (secret) DO UPDATE SET expires = excluded.expires, used_by = excluded.used_by
                """, .blob(ticket.secret), .integer(ticket.expiresMilliseconds),
                .integer(Int64(ticket.role.rawValue)), .integer(ticket.until.map { Int64(clamping: $0) }),
                .blob(ticket.usedBy?.bytes))
        }
    }

    /// Devices that this node has nothing to do with, sorted.
    package func blockedDevices() throws(StoreError) -> [DeviceID] {
        try read { access throws(StoreError) in
            var devices: [DeviceID] = []
            try access.forEach("SELECT device FROM blocked ORDER BY device") { row throws(StoreError) in
                if let device = DeviceID(bytes: row.blob(0)) { devices.append(device) }
                return true
            }
            return devices
        }
    }

    /// Blocks the device, or no longer. Idempotent; a change of mind gets a row in the log of trust.
    package func setBlocked(_ device: DeviceID, _ isBlocked: Bool, wallMilliseconds: Int64) throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            let own = writing.own.device
            try write(&writing) { access throws(StoreError) in
                let row = try access.first("SELECT 1 FROM blocked WHERE device = ?", .blob(device.bytes)) {
                    row throws(StoreError) in row.integer(0)
                }
                guard (row != nil) != isBlocked else { return }
                try access.run(
                    isBlocked
                        ? "INSERT INTO blocked (device) VALUES (?)" : "DELETE FROM blocked WHERE device = ?",
                    .blob(device.bytes))
                let fact = TrustFact(
                    isBlocked ? .block : .unblock, of: device, by: own, at: nil, wallMilliseconds: wallMilliseconds)
                try TrustRows(try spaceRows(access)).record([fact], at: wallMilliseconds)
            }
        }
    }
}
