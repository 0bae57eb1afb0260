/// Request of `lanyard streams set`: what is not named stays as it is.
public struct StreamSettings: Hashable, Sendable {
    /// The time that events are kept.
    public enum Retention: Hashable, Sendable {
        /// Events are kept for ever.
        case forever
        /// Events are kept this long after they were written, by their author's wall clock.
        case seconds(Int)
    }

    /// The stream shows only its greatest event per type.
    public var latestOnly: Bool?
    /// The time that events are kept.
    public var retention: Retention?

    /// Both parts.
    public init(latestOnly: Bool? = nil, retention: Retention? = nil) {
        self.latestOnly = latestOnly
        self.retention = retention
    }
}

extension StreamSettings: Codable {
    private enum Key: String, CodingKey {
        case latestOnly
        case retainSeconds
    }

    /// Reads `{"latestOnly"?, "retainSeconds"?}`; `null` seconds are for ever. Throws `invalid_argument` for nothing to set.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        latestOnly = container.contains(.latestOnly) ? try container.decode(Bool.self, forKey: .latestOnly) : nil
        if container.contains(.retainSeconds) {
            let seconds = try container.decodeIfPresent(Int.self, forKey: .retainSeconds)
            guard seconds ?? 1 >= 1 else {
                throw ControlError(
                    .invalidArgument, "Events are kept for at least a second.", hint: "null keeps them for ever.")
            }
            retention = seconds.map(Retention.seconds) ?? .forever
        }
        guard latestOnly != nil || retention != nil else {
            throw ControlError(
                .invalidArgument, "There is nothing to set.", hint: "Give latestOnly, retainSeconds or both.")
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        if let latestOnly { try container.encode(latestOnly, forKey: .latestOnly) }
        switch retention {
        case nil: break
        case .forever: try container.encodeNil(forKey: .retainSeconds)
        case .seconds(let seconds): try container.encode(seconds, forKey: .retainSeconds)
        }
    }
}
