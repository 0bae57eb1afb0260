/// The result of the negotiation once both sides of a session said `Hello`. Both compute it from the same two frames.
package struct Agreement: Hashable, Sendable {
    /// The greatest protocol version both speak.
    package let protocolVersion: UInt32
    /// Feature bits both understand.
    package let features: UInt64
}

/// The reason why two agents cannot talk: names both versions and the side to upgrade.
package enum HelloRefusal: Error, Hashable, Sendable {
    case protocolMismatch(ours: Version, theirs: Version, upgrade: Side)
    case featureRequired(bits: UInt64, ours: Version, theirs: Version, upgrade: Side)

    package enum Side: Hashable, Sendable {
        case ours
        case theirs
    }

    package struct Version: Hashable, Sendable, CustomStringConvertible {
        package let agent: String
        package let protocols: ClosedRange<UInt32>

        package var description: String { "\(agent) (protocol \(protocols.lowerBound) to \(protocols.upperBound))" }
    }

    /// Stable; said in `Goodbye`, logs and `why`.
    package var code: String {
        switch self {
        case .protocolMismatch: "protocol_mismatch"
        case .featureRequired: "feature_required"
        }
    }

    package var upgrade: Side {
        switch self {
        case .protocolMismatch(_, _, let side), .featureRequired(_, _, _, let side): side
        }
    }

    /// The message of what happened and what to do next, as seen from this machine.
    package var message: String {
        let advice =
            switch upgrade {
            case .ours: "upgrade this machine"
            case .theirs: "upgrade the peer"
            }
        switch self {
        case .protocolMismatch(let ours, let theirs, _):
            return "no common protocol: this machine runs \(ours), the peer \(theirs); \(advice)"
        case .featureRequired(let bits, let ours, let theirs, _):
            let mask = String(bits, radix: 16)
            return "features 0x\(mask) are required: this machine runs \(ours), the peer \(theirs); \(advice)"
        }
    }
}

extension Frame.Hello {
    /// Throws the reason when this side and `theirs` cannot talk. The older side is the one to upgrade.
    package func agreed(with theirs: Frame.Hello) throws(HelloRefusal) -> Agreement {
        let (own, other) = (version, theirs.version)
        guard protocols.overlaps(theirs.protocols) else {
            let isOlder = protocols.upperBound < theirs.protocols.lowerBound
            throw .protocolMismatch(ours: own, theirs: other, upgrade: isOlder ? .ours : .theirs)
        }
        let missingHere = theirs.featuresRequired & ~features
        guard missingHere == 0 else {
            throw .featureRequired(bits: missingHere, ours: own, theirs: other, upgrade: .ours)
        }
        let missingThere = featuresRequired & ~theirs.features
        guard missingThere == 0 else {
            throw .featureRequired(bits: missingThere, ours: own, theirs: other, upgrade: .theirs)
        }
        return Agreement(
            protocolVersion: min(protocols.upperBound, theirs.protocols.upperBound),
            features: features & theirs.features)
    }

    private var version: HelloRefusal.Version { HelloRefusal.Version(agent: agentVersion, protocols: protocols) }
}
