package import SyncModel

/// Planted bugs: each weakens one durable step of the code that ships, so that a check can be seen to fail.
/// The shipped value is empty; only the simulator and the tests set them.
package struct StoreFaults: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Goes on under the old incarnation although no lease proves that this store lost nothing.
    package static let reuseCounterAfterCrash = StoreFaults(rawValue: 1 << 0)
    /// Answers a write before it is on the disk.
    package static let commitWithoutSync = StoreFaults(rawValue: 1 << 1)
    /// Goes on folding changes after they were sealed, when peers may have them.
    package static let foldWhatWasSeen = StoreFaults(rawValue: 1 << 2)

    // The upper half is the model's.

    private static let modelShift: UInt32 = 16

    /// Bugs in what an operation does, rather than in how it is kept.
    package init(_ model: ModelFaults) { rawValue = UInt32(model.rawValue) << Self.modelShift }

    package var model: ModelFaults { ModelFaults(rawValue: UInt16(rawValue >> Self.modelShift)) }
}
