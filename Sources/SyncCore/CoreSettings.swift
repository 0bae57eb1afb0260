import SyncModel

/// The configuration of a core as its machines hold it: it never changes and stands in one place, so that machines stay small
/// and cheap to copy.
final class CoreSettings: Sendable {
    let configuration: CoreConfiguration

    init(_ configuration: CoreConfiguration) { self.configuration = configuration }

    var own: DeviceID { configuration.own }
    var agentVersion: String { configuration.agentVersion }
    var runID: UInt64 { configuration.runID }
    var timing: CoreConfiguration.Timing { configuration.timing }
    var bounds: CoreConfiguration.Bounds { configuration.bounds }
    var collectsDeletions: Bool { configuration.collectsDeletions }
    var compacts: Bool { configuration.compacts }
    var dropsEvents: Bool { configuration.dropsEvents }
    var exchangesState: Bool { configuration.exchangesState }
    /// The feature bits that this side announces.
    var features: UInt64 { configuration.features & (exchangesState ? .max : ~SessionProtocol.state) }
    var featuresRequired: UInt64 { configuration.featuresRequired }
    var faults: CoreFaults { configuration.faults }
}
