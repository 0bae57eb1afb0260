/// Planted bugs: each breaks one rule of the code that ships, so that a check can be seen to fail.
///
/// The shipped value is empty; only the simulator and tests set others. It travels in `Origin`, which everything that is
/// applied or planned gets: so many runs, each with its own, fit into one process.
@usableFromInline
package struct ModelFaults: OptionSet, Hashable, Sendable {
    @usableFromInline package let rawValue: UInt16

    @usableFromInline package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Removing an element of a set takes the additions with it that the remover had not seen.
    package static let setForgetsContext = ModelFaults(rawValue: 1 << 0)
    /// An increment whose author had not seen all others counts twice.
    package static let counterAddsTwice = ModelFaults(rawValue: 1 << 1)
    /// Removing a key takes with it what was written below it apart.
    @usableFromInline package static let dictionaryDropsConcurrentEdit = ModelFaults(rawValue: 1 << 2)
    /// An element of a list that is moved is shown in its old place too.
    package static let moveDuplicates = ModelFaults(rawValue: 1 << 3)
    /// Deletions and edits are compared by their authors' clocks.
    package static let policyReadsWallClock = ModelFaults(rawValue: 1 << 4)
    /// A register keeps what has the greatest stamp, whatever its author had seen.
    package static let registerByStamp = ModelFaults(rawValue: 1 << 5)
    /// A deletion ends only what its own device began.
    package static let deletionForgetsBirths = ModelFaults(rawValue: 1 << 6)
    /// A life does not remember which deletions its author had seen.
    package static let birthForgetsDeletions = ModelFaults(rawValue: 1 << 7)
    /// A schema edit takes the place of the whole schema.
    package static let schemaReplaces = ModelFaults(rawValue: 1 << 8)
    /// An upsert writes what reads the same already.
    package static let upsertWritesUnchanged = ModelFaults(rawValue: 1 << 9)
    /// Removing a text from above takes the scalars with it that were typed apart.
    package static let textRemovalTakesAll = ModelFaults(rawValue: 1 << 10)
    /// Edits that a deletion dropped are not counted.
    package static let droppedEditsUnlisted = ModelFaults(rawValue: 1 << 11)

    /// Detaching takes every attachment of the same bytes along.
    package static let detachTakesSameFile = ModelFaults(rawValue: 1 << 12)
    /// An attachment goes to the first life that is here, whichever life it was attached to.
    package static let attachToFirstLife = ModelFaults(rawValue: 1 << 13)
    /// Attachments of what is deleted are still kept for what is shown.
    package static let deletionKeepsAttachments = ModelFaults(rawValue: 1 << 14)

    /// A plan made beside the writer counts whatever became of the object meanwhile. A bug of the store, not of a type.
    package static let plansGrowOld = ModelFaults(rawValue: 1 << 15)

    package static let all = ModelFaults(rawValue: (1 << 15) - 1)
}
