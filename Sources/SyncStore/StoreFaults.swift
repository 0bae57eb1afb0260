package import SyncModel

/// Planted bugs: each weakens one durable step of the code that ships, so that a check can be seen to fail.
/// The shipped value is empty; only the simulator and the tests set them.
package struct StoreFaults: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Goes on under the old incarnation although no lease proves that this store lost nothing.
    package static let reuseCounterAfterCrash = StoreFaults(rawValue: 1 << 0)
    /// Goes on under the old incarnation wherever a lease of this boot is, however far it says that this machine had written.
    package static let leaseIgnoresTail = StoreFaults(rawValue: 1 << 15)
    /// Answers a write before it is on the disk.
    package static let commitWithoutSync = StoreFaults(rawValue: 1 << 1)
    /// Goes on folding changes after they were sealed, when peers may have them.
    package static let foldWhatWasSeen = StoreFaults(rawValue: 1 << 2)

    /// The receiver keeps the dots that the sender of a state has removed.
    package static let stateWithoutLiveDots = StoreFaults(rawValue: 1 << 3)
    /// A receiver of state does not look which lives the sender still has.
    package static let stateWithoutBirths = StoreFaults(rawValue: 1 << 4)
    /// State is joined in more than one transaction.
    package static let stateInPieces = StoreFaults(rawValue: 1 << 5)
    /// An object staged from an earlier stream is taken for the one that the sender announces now.
    package static let stateStagedByName = StoreFaults(rawValue: 1 << 6)

    /// An announced object of a state counts as staged, whether or not it came.
    package static let stateHalfStaged = StoreFaults(rawValue: 1 << 7)
    /// A state has only the first of several events of one change.
    package static let stateForgetsEvents = StoreFaults(rawValue: 1 << 8)

    /// A replica that comes as state is stored without the context that its first change named.
    package static let stateForgetsFirstContexts = StoreFaults(rawValue: 1 << 17)

    /// A cut is applied without asking which held changes speak against it.
    package static let cutAsksNobody = StoreFaults(rawValue: 1 << 9)
    /// Objects stay as they are when changes on them begin, or cease, to count.
    package static let cutKeepsObjects = StoreFaults(rawValue: 1 << 10)
    /// A retired device begins a new history before it is admitted again.
    package static let beginUninvited = StoreFaults(rawValue: 1 << 11)

    /// A state is joined whatever its sender knew of cuts.
    package static let stateIgnoresCuts = StoreFaults(rawValue: 1 << 16)

    /// Changes are dropped below the stable point, though authors of held changes had not seen all of them.
    package static let cutAtStable = StoreFaults(rawValue: 1 << 12)
    /// Dropping changes keeps only the first of several events of one change.
    package static let compactionDropsEvents = StoreFaults(rawValue: 1 << 13)
    /// Dropping changes also drops the contexts that their authors had gained.
    package static let compactionForgetsContexts = StoreFaults(rawValue: 1 << 14)

    /// Work of this device that is taken back is not kept aside.
    package static let takeBackForgets = StoreFaults(rawValue: 1 << 18)

    /// Members that the taken-back work had admitted are admitted again in its turn, behind their own changes.
    package static let guestsComeLater = StoreFaults(rawValue: 1 << 20)

    /// The answer to a write with a key is kept in a transaction of its own, behind the write.
    package static let answersKeptLater = StoreFaults(rawValue: 1 << 21)

    /// A state does not say which events are dropped.
    package static let stateForgetsDrops = StoreFaults(rawValue: 1 << 19)

    /// A device with a new key names work of devices with which no fact connects it.
    package static let strangersNamed = StoreFaults(rawValue: 1 << 22)

    /// Statements on the role of this device are passed over, as a thief has them passed over; not a bug to be found.
    package static let ignoreOwnStatements = StoreFaults(rawValue: 1 << 23)
    /// Add-facts count beyond the ends of their authors' histories.
    package static let countVoidAdditions = StoreFaults(rawValue: 1 << 24)
    /// A moved strict end of a history changes nothing of what is shown.
    package static let strictEndsStay = StoreFaults(rawValue: 1 << 25)

    /// The word of a device on an elder one has no effect.
    package static let elderWins = StoreFaults(rawValue: 1 << 26)

    // The upper half is the model's.

    private static let modelShift: UInt64 = 32

    /// Bugs in what an operation does, rather than in how it is kept.
    package init(_ model: ModelFaults) { rawValue = UInt64(model.rawValue) << Self.modelShift }

    /// The bugs in what the facts on members come to.
    var trust: TrustFaults {
        var faults: TrustFaults = []
        if contains(.ignoreOwnStatements) { faults.insert(.ignoreOwnStatements) }
        if contains(.countVoidAdditions) { faults.insert(.countVoidAdditions) }
        if contains(.elderWins) { faults.insert(.elderWins) }
        return faults
    }

    package var model: ModelFaults { ModelFaults(rawValue: UInt16(truncatingIfNeeded: rawValue >> Self.modelShift)) }
}
