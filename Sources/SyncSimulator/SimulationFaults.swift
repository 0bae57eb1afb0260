package import SyncCore
package import SyncModel
package import SyncStore

/// The planted bugs by their command-line names: each a switch in the code that ships. Others of the store, which 500 seeds do not
/// find, are found by the random worlds of its own tests (Tests/StoreTests/State).
package enum PlantedBug: String, CaseIterable, Sendable {
    case sendBeforeCommit = "send-before-commit"
    case offByOneVector = "off-by-one-vector"
    case skipWaitingRoom = "skip-waiting-room"
    case reuseCounter = "reuse-counter"
    case dropHave = "drop-have"
    case deadSessionAlive = "dead-session-alive"
    case beyondSignature = "beyond-signature"
    case acknowledgeWaitingRoom = "acknowledge-waiting-room"
    case forgetLostWant = "forget-lost-want"
    case commitWithoutSync = "commit-without-sync"
    case foldWhatWasSeen = "fold-what-was-seen"
    case setForgetsContext = "set-forgets-context"
    case counterAddsTwice = "counter-adds-twice"
    case dictionaryDropsEdit = "dictionary-drops-edit"
    case moveDuplicates = "move-duplicates"
    case policyReadsClock = "policy-reads-clock"
    case registerByStamp = "register-by-stamp"
    case deletionForgetsBirths = "deletion-forgets-births"
    case birthForgetsDeletions = "birth-forgets-deletions"
    case schemaReplaces = "schema-replaces"
    case upsertWritesUnchanged = "upsert-writes-unchanged"
    case textRemovalTakesAll = "text-removal-takes-all"
    case droppedEditsUnlisted = "dropped-edits-unlisted"
    case detachTakesSameFile = "detach-takes-same-file"
    case attachToFirstLife = "attach-to-first-life"
    case deletionKeepsAttachments = "deletion-keeps-attachments"
    case collectBeforeStability = "collect-before-stability"
    case countUnpackedBuffers = "count-unpacked-buffers"
    case unboundedInFlight = "unbounded-in-flight"
    case askTwice = "ask-twice"
    case believeHashes = "believe-hashes"
    case trustLiars = "trust-liars"
    case forgetCancelled = "forget-cancelled"
    case believeFirstSize = "believe-first-size"
    case skipChunkHash = "skip-chunk-hash"
    case rowBeforeFile = "row-before-file"
    case sweepReferenced = "sweep-referenced"
    case forgetPartials = "forget-partials"
    case skipFileSync = "skip-file-sync"
    case skipFolderSync = "skip-folder-sync"
    case fileBeforeRow = "file-before-row"
    case trustOldPages = "trust-old-pages"
    case stateWithoutLiveDots = "state-without-live-dots"
    case stateStagedByName = "state-staged-by-name"
    case stateForgetsEvents = "state-forgets-events"
    case stateForgetsFirstContexts = "state-forgets-first-contexts"
    case cutAtStable = "cut-at-stable"
    case compactionDropsEvents = "compaction-drops-events"
    case leaseIgnoresTail = "lease-ignores-tail"
    case compactionForgetsContexts = "compaction-forgets-contexts"
    case releaseBeforeAcknowledged = "release-before-acknowledged"
    case settleAlone = "settle-alone"
    case forgetVoidWork = "forget-void-work"
    case cutAsksNobody = "cut-asks-nobody"
    case cutKeepsObjects = "cut-keeps-objects"
    case beginUninvited = "begin-uninvited"
    case dropUnstableEvents = "drop-unstable-events"
    case stateForgetsDrops = "state-forgets-drops"
    case believeClaimedHeads = "believe-claimed-heads"
    case believeGoodbye = "believe-goodbye"
    case sendUnagreedFrames = "send-unagreed-frames"
    case strictEndsStay = "strict-ends-stay"
    case countVoidAdditions = "count-void-additions"
    case elderWins = "elder-wins"
    case serveBarred = "serve-barred"
    case ignoreStatements = "ignore-statements"
    case hideIncomplete = "hide-incomplete"
    case leaveGivenWay = "leave-given-way"

    /// The kind of world in which the bug is looked for: where it shows only in one kind, that one.
    package func kind(in kind: WorldKind) -> WorldKind {
        switch self {
        case .sendUnagreedFrames: .mixed
        case .strictEndsStay, .countVoidAdditions, .elderWins, .serveBarred, .ignoreStatements, .hideIncomplete:
            .thieves
        case .leaveGivenWay: .reverted
        case _: kind
        }
    }

    package var core: CoreFaults {
        switch self {
        case .sendBeforeCommit: .sendBeforeCommit
        case .offByOneVector: .offByOneVector
        case .skipWaitingRoom: .skipWaitingRoom
        case .dropHave: .dropHave
        case .deadSessionAlive: .countDeadSessionAsAlive
        case .beyondSignature: .applyBeyondSignature
        case .acknowledgeWaitingRoom: .acknowledgeWaitingRoom
        case .forgetLostWant: .forgetLostWant
        case .collectBeforeStability: .collectBeforeStability
        case .countUnpackedBuffers: .countUnpackedBuffers
        case .releaseBeforeAcknowledged: .releaseBeforeAcknowledged
        case .settleAlone: .settleAlone
        case .forgetVoidWork: .forgetVoidWork
        case .dropUnstableEvents: .dropUnstableEvents
        case .believeClaimedHeads: .believeClaimedHeads
        case .believeGoodbye: .believeGoodbye
        case .sendUnagreedFrames: .sendUnagreedFrames
        case .serveBarred: .serveBarred
        case .ignoreStatements: .ignoreStatements
        case .hideIncomplete: .hideIncomplete
        case .leaveGivenWay: .leaveGivenWay
        case .reuseCounter, .leaseIgnoresTail, .commitWithoutSync, .foldWhatWasSeen, .setForgetsContext,
            .counterAddsTwice,
            .dictionaryDropsEdit,
            .moveDuplicates, .policyReadsClock, .registerByStamp, .deletionForgetsBirths, .birthForgetsDeletions,
            .schemaReplaces, .upsertWritesUnchanged, .textRemovalTakesAll, .droppedEditsUnlisted, .detachTakesSameFile,
            .attachToFirstLife, .deletionKeepsAttachments,
            .unboundedInFlight, .askTwice, .believeHashes, .trustLiars, .forgetCancelled,
            .believeFirstSize, .skipChunkHash, .rowBeforeFile, .sweepReferenced, .forgetPartials, .skipFileSync,
            .skipFolderSync, .fileBeforeRow,
            .trustOldPages, .stateWithoutLiveDots,
            .stateStagedByName, .stateForgetsEvents, .stateForgetsFirstContexts, .cutAtStable, .compactionDropsEvents,
            .compactionForgetsContexts, .cutAsksNobody, .cutKeepsObjects,
            .beginUninvited, .stateForgetsDrops, .strictEndsStay, .countVoidAdditions, .elderWins:
            []
        }
    }

    package var store: StoreFaults {
        switch self {
        case .reuseCounter: .reuseCounterAfterCrash
        case .leaseIgnoresTail: .leaseIgnoresTail
        case .commitWithoutSync: .commitWithoutSync
        case .foldWhatWasSeen: .foldWhatWasSeen
        case .stateWithoutLiveDots: .stateWithoutLiveDots
        case .stateStagedByName: .stateStagedByName
        case .stateForgetsEvents: .stateForgetsEvents
        case .stateForgetsFirstContexts: .stateForgetsFirstContexts
        case .cutAtStable: .cutAtStable
        case .compactionDropsEvents: .compactionDropsEvents
        case .compactionForgetsContexts: .compactionForgetsContexts
        case .cutAsksNobody: .cutAsksNobody
        case .cutKeepsObjects: .cutKeepsObjects
        case .beginUninvited: .beginUninvited
        case .stateForgetsDrops: .stateForgetsDrops
        case .strictEndsStay: .strictEndsStay
        case .countVoidAdditions: .countVoidAdditions
        case .elderWins: .elderWins
        case .sendBeforeCommit, .offByOneVector, .skipWaitingRoom, .dropHave, .deadSessionAlive, .beyondSignature,
            .acknowledgeWaitingRoom, .forgetLostWant, .collectBeforeStability, .countUnpackedBuffers,
            .unboundedInFlight, .askTwice, .believeHashes, .trustLiars, .forgetCancelled,
            .believeFirstSize, .skipChunkHash, .rowBeforeFile, .sweepReferenced, .forgetPartials, .skipFileSync,
            .skipFolderSync, .fileBeforeRow,
            .trustOldPages, .releaseBeforeAcknowledged, .settleAlone, .forgetVoidWork, .dropUnstableEvents,
            .believeClaimedHeads, .believeGoodbye, .sendUnagreedFrames, .serveBarred, .ignoreStatements,
            .hideIncomplete, .leaveGivenWay:
            []
        case .setForgetsContext, .counterAddsTwice, .dictionaryDropsEdit, .moveDuplicates, .policyReadsClock,
            .registerByStamp, .deletionForgetsBirths, .birthForgetsDeletions, .schemaReplaces, .upsertWritesUnchanged,
            .textRemovalTakesAll, .droppedEditsUnlisted, .detachTakesSameFile, .attachToFirstLife,
            .deletionKeepsAttachments:
            StoreFaults(model)
        }
    }

    /// The effect of the bug on operations on objects.
    package var model: ModelFaults {
        switch self {
        case .sendBeforeCommit, .offByOneVector, .skipWaitingRoom, .reuseCounter, .leaseIgnoresTail, .dropHave,
            .deadSessionAlive,
            .beyondSignature, .acknowledgeWaitingRoom, .forgetLostWant, .commitWithoutSync, .foldWhatWasSeen,
            .collectBeforeStability, .countUnpackedBuffers,
            .unboundedInFlight, .askTwice, .believeHashes, .trustLiars, .forgetCancelled,
            .believeFirstSize, .skipChunkHash, .rowBeforeFile, .sweepReferenced, .forgetPartials, .skipFileSync,
            .skipFolderSync, .fileBeforeRow,
            .trustOldPages, .stateWithoutLiveDots,
            .stateStagedByName, .stateForgetsEvents, .stateForgetsFirstContexts, .cutAtStable, .compactionDropsEvents,
            .compactionForgetsContexts,
            .releaseBeforeAcknowledged, .settleAlone, .forgetVoidWork, .cutAsksNobody, .cutKeepsObjects,
            .beginUninvited, .dropUnstableEvents, .stateForgetsDrops, .believeClaimedHeads, .believeGoodbye,
            .sendUnagreedFrames, .strictEndsStay, .countVoidAdditions, .elderWins, .serveBarred, .ignoreStatements,
            .hideIncomplete, .leaveGivenWay:
            []
        case .setForgetsContext: .setForgetsContext
        case .counterAddsTwice: .counterAddsTwice
        case .dictionaryDropsEdit: .dictionaryDropsConcurrentEdit
        case .moveDuplicates: .moveDuplicates
        case .policyReadsClock: .policyReadsWallClock
        case .registerByStamp: .registerByStamp
        case .deletionForgetsBirths: .deletionForgetsBirths
        case .birthForgetsDeletions: .birthForgetsDeletions
        case .schemaReplaces: .schemaReplaces
        case .upsertWritesUnchanged: .upsertWritesUnchanged
        case .textRemovalTakesAll: .textRemovalTakesAll
        case .droppedEditsUnlisted: .droppedEditsUnlisted
        case .detachTakesSameFile: .detachTakesSameFile
        case .attachToFirstLife: .attachToFirstLife
        case .deletionKeepsAttachments: .deletionKeepsAttachments
        }
    }

    /// The effect of the bug on blobs at rest.
    package var blobs: BlobFaults {
        switch self {
        case .skipChunkHash: .skipChunkHash
        case .rowBeforeFile: .rowBeforeFile
        case .sweepReferenced: .sweepReferenced
        case .forgetPartials: .forgetPartials
        case .skipFileSync: .skipFileSync
        case .skipFolderSync: .skipFolderSync
        case .fileBeforeRow: .fileBeforeRow
        case .trustOldPages: .trustOldPages
        case _: []
        }
    }

    /// The effect of the bug on the core that moves blobs.
    package var bulk: BulkFaults {
        switch self {
        case .unboundedInFlight: .unboundedInFlight
        case .askTwice: .askTwice
        case .believeHashes: .believeHashes
        case .trustLiars: .trustLiars
        case .forgetCancelled: .forgetCancelled
        case .believeFirstSize: .believeFirstSize
        case _: []
        }
    }
}
