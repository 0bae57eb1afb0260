package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// What a device wrote beyond the end of its histories: a person looks at it.
extension Agent {
    /// Returns a page of the void work of a device, in the order in which it was written. The device is named as in `retire`; one
    /// that is no member any more also by its id, or how that begins. Throws `invalid_argument` for a cursor that was not
    /// handed out.
    package func voidWork(
        space: String, device word: String, after cursor: String?, limit: Int
    ) async throws(ControlError) -> VoidWorkResponse {
        try checkSpace(space)
        let reviewed = try await reviewedDevice(word, space: space)
        var key: CanonicalKey?
        if let cursor {
            guard let place = CanonicalKey(text: cursor), place.dot.replica.device == reviewed.id else {
                throw .badCursor
            }
            key = place
        }
        let page = try await stored { [key] () throws(StoreError) in
            try store.voidWork(
                of: reviewed.id, after: key, limit: limit, byteBudget: ControlLimits.pagePayloadBytes, space: .home)
        }
        return VoidWorkResponse(
            device: "\(reviewed.id)", name: reviewed.name, entries: page.operations.map { VoidWorkEntry($0) },
            next: page.next?.text, dropped: page.isDropped)
    }

    /// Finds the device that is meant: a member, or an author whose changes are stored.
    func reviewedDevice(
        _ word: String, space: String
    ) async throws(ControlError) -> (id: DeviceID, name: String) {
        let now = try await controlled { try await snapshot() }
        var known = try await devices(space: space)
        var ids = Dictionary(now.members.map { ("\($0.device)", $0.device) }) { first, _ in first }
        for device in Set(now.tips.map(\.replica.device)) where ids["\(device)"] == nil {
            ids["\(device)"] = device
            known.append(
                DeviceEntry(
                    id: "\(device)", name: now.name(of: device), role: .writer, addedBy: nil, addedAt: nil,
                    lastSeen: nil, state: "revoked"))
        }
        let found = try DeviceWord.find(word, in: known)
        guard let id = ids[found.id] else { throw DeviceWord.unknown(word) }
        return (id, found.name)
    }
}

extension VoidWorkEntry {
    init(_ operation: VoidOperation) {
        let time = Timestamp(millisecondsSinceEpoch: operation.wallMilliseconds)
        func entry(_ kind: String) -> VoidWorkEntry {
            VoidWorkEntry(kind: kind, time: time, dot: DotText(operation.key.dot))
        }
        switch operation.content {
        case .object(let key, let edit):
            self = entry("object")
            collection = key.collection.string
            id = key.id.string
            accepted = operation.isAccepted
            describe(edit)
        case .event(let event):
            self = entry("event")
            stream = event.stream
            type = event.type
            payload = JSONText(checked: event.payload)
            accepted = operation.isAccepted
        case .schema(let edit):
            self = entry("schema")
            collection = edit.collection.string
            var alone = CollectionSchema()
            alone.apply(edit, at: Origin(dot: operation.key.dot, stamp: operation.key.stamp, context: VersionVector()))
            schema = JSONText(alone.json)
        case .stream(let setting):
            self = entry("stream")
            stream = setting.stream.string
            latestOnly = setting.latestOnly
            retainSeconds = setting.retainMilliseconds.map { Int(clamping: $0 / 1_000) }
        case .dropEvents(let name):
            self = entry("drop")
            stream = name.string
        case .addition(let device, let name, let role):
            self = entry("device")
            self.device = "\(device)"
            deviceName = name
            self.role = Role(role).rawValue
        case .retirement(let device):
            self = entry("retirement")
            self.device = "\(device)"
        case .statement(let content):
            self = entry("statement")
            describe(content)
        case .unknown: self = entry("unknown")
        }
    }

    private mutating func describe(_ edit: VoidOperation.Edit) {
        switch edit {
        case .created(let fields): (action, self.fields) = ("created", fields.map(\.string))
        case .edited(let fields): (action, self.fields) = ("edited", fields.map(\.string))
        case .attached(let file): (action, attachment) = ("attached", file.name.string)
        case .detached: action = "detached"
        case .deleted: action = "deleted"
        case .kept: action = "kept"
        }
    }

    private mutating func describe(_ content: TrustStatement.Content) {
        switch content {
        case .role(let device, let role, ends: _):
            (action, self.device, self.role) = ("role", "\(device)", Role(role).rawValue)
        case .readmission(let device, let role, _):
            (action, self.device, self.role) = ("readmission", "\(device)", Role(role).rawValue)
        case .revocation(let device, ends: _, wipes: _): (action, self.device) = ("revocation", "\(device)")
        case .recoveryKey: action = "recoveryKey"
        }
    }
}
