// Identifiers and clocks in JSON and other `Codable` formats. On the wire and on disk they have layouts of their own.

extension Stamp: Codable {
    /// Reads what `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(UInt64.self))
    }

    /// Writes its form for JSON and the like.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension ReplicaID: Codable {
    /// The device's text form, a dot, the incarnation in hexadecimal: unlike `description` it names the whole device.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let parts = try container.decode(String.self).split(separator: ".")
        guard parts.count == 2, let device = DeviceID(text: String(parts[0])),
            let incarnation = UInt64(parts[1], radix: 16)
        else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a replica") }
        self.init(device: device, incarnation: incarnation)
    }

    /// Writes its form for JSON and the like.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(device).\(String(incarnation, radix: 16))")
    }
}

extension Dot: Codable {
    private enum CodingKeys: CodingKey {
        case replica
        case counter
    }

    /// Decodes a dot, and refuses a counter beyond `Limits.counters`: code that adds to one need not check for overflow.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let counter = try container.decode(UInt64.self, forKey: .counter)
        guard counter <= Limits.counters else {
            throw DecodingError.dataCorruptedError(
                forKey: .counter, in: container, debugDescription: "no replica counts that far")
        }
        self.init(replica: try container.decode(ReplicaID.self, forKey: .replica), counter: counter)
    }

    /// Writes its form for JSON and the like.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(replica, forKey: .replica)
        try container.encode(counter, forKey: .counter)
    }
}

extension VersionVector: Codable {
    /// Reads what `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let entries = try container.decode([Entry].self)
        guard entries.allSatisfy({ $0.next <= Limits.counters }) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no replica counts that far")
        }
        self.init(entries)
    }

    /// Writes its form for JSON and the like.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(entries)
    }
}
