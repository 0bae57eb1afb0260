import ReplicatedTypes

// A receipt as an object of the space: so every member comes to know it, and it stays through compaction.
extension WipeReceipt {
    package static let collection = ExactString("lanyard.receipts")
    private static let field = ExactString("receipt")

    /// The object that has the newest receipt of a device.
    package static func key(of device: DeviceID) -> ObjectKey {
        ObjectKey(collection: collection, id: ExactString("\(device)"))
    }

    package var fields: [JSONValue.Member] {
        [JSONValue.Member(key: Self.field, value: .text(canonicalBytes.hexadecimal))]
    }

    /// Nil for fields that no node wrote so. Anyone who may write can write them: the signature decides.
    package init?(_ fields: [JSONValue.Member]) {
        guard case .string(let text)? = fields.first(where: { $0.key == Self.field })?.value,
            let receipt = Hex.bytes(text.string).flatMap(WipeReceipt.init(encoded:))
        else { return nil }
        self = receipt
    }
}

extension ObjectKey {
    /// True for the objects that are no person's content: records of snapshots, receipts, keys of tags, accepted events.
    package var isKeptByAgents: Bool {
        [SnapshotRecord.collection, WipeReceipt.collection, DiscoveryKey.collection, AcceptedEvents.collection]
            .contains(collection)
    }
}
