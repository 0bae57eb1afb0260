import SyncCore

/// The version of a node's agent. There is one code base, so a version is what it announces, and what it says beyond this code.
struct SimulatedVersion: Equatable {
    var features: UInt64
    /// The feature bits that a peer must announce.
    var featuresRequired: UInt64
    /// True if its frames have fields, and are of kinds, that this code does not know.
    var isLater: Bool

    /// The agent of this code, in worlds with one version.
    static let present = SimulatedVersion(
        features: SessionProtocol.features, featuresRequired: SessionProtocol.featuresRequired, isLater: false)

    /// Returns the features of a session between the two; nil if one requires what the other lacks.
    func agreement(with other: SimulatedVersion) -> UInt64? {
        guard featuresRequired & ~other.features == 0, other.featuresRequired & ~features == 0 else { return nil }
        return features & other.features
    }
}
