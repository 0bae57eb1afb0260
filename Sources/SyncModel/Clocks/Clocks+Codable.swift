// Identifiers and clocks in JSON and other `Codable` formats. On the wire and on disk they have layouts of their own.

extension Stamp: Codable {
    /// A number.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(UInt64.self))
    }

    /// A number.
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

    /// As `init(from:)` reads it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(device).\(String(incarnation, radix: 16))")
    }
}

extension VersionVector: Codable {
    /// The list of entries.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([Entry].self))
    }

    /// The list of entries.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(entries)
    }
}
