extension PlantedBug {
    /// The seed that found the bug last, where that is not the first: tried first, since a search from the beginning runs all
    /// that do not find it. It may grow old, when schedules change; then the others are tried in their order, and
    /// the search reports the new one.
    package var knownSeed: UInt64? { Self.knownSeeds[self] }

    private static let knownSeeds: [PlantedBug: UInt64] = [
        .sendBeforeCommit: 2, .acknowledgeWaitingRoom: 3, .dropUnstableEvents: 3, .skipWaitingRoom: 3,
        .attachToFirstLife: 4, .commitWithoutSync: 4, .deletionKeepsAttachments: 4, .foldWhatWasSeen: 4,
        .forgetPartials: 4, .rowBeforeFile: 4, .skipFileSync: 4, .skipFolderSync: 4, .trustOldPages: 4,
        .believeHashes: 5, .skipChunkHash: 5, .sweepReferenced: 5, .trustLiars: 5, .unboundedInFlight: 5,
        .forgetVoidWork: 6, .releaseBeforeAcknowledged: 14, .believeClaimedHeads: 7, .believeGoodbye: 7,
        .droppedEditsUnlisted: 7, .policyReadsClock: 7, .ignoreStatements: 4, .hideIncomplete: 186,
        .leaveGivenWay: 140,
        .countVoidAdditions: 11, .elderWins: 14,
        .countUnpackedBuffers: 9, .dictionaryDropsEdit: 9,
        .textRemovalTakesAll: 9, .deadSessionAlive: 11, .counterAddsTwice: 13, .cutKeepsObjects: 13,
        .detachTakesSameFile: 13, .setForgetsContext: 13, .compactionDropsEvents: 14, .cutAtStable: 14, .askTwice: 19,
        .reuseCounter: 20, .leaseIgnoresTail: 28, .stateForgetsEvents: 29, .stateWithoutLiveDots: 29,
        .believeFirstSize: 49, .settleAlone: 49, .stateForgetsDrops: 50, .stateStagedByName: 52,
        .compactionForgetsContexts: 66, .beginUninvited: 72, .cutAsksNobody: 86, .forgetCancelled: 118,
        .fileBeforeRow: 120, .forgetLostWant: 127, .stateForgetsFirstContexts: 179,
    ]

    /// The checkers that may be the first to find the bug, where it is known which have to; another one finds something else.
    package var expectedCheckers: Set<String>? { Self.checkers[self] }

    private static let checkers: [PlantedBug: Set<String>] = [
        .sendBeforeCommit: ["durable before sent"],
        // What operations do to objects.
        .setForgetsContext: ["no edit lost silently", "same digest by every road"],
        .counterAddsTwice: ["no edit lost silently", "same digest by every road"],
        .dictionaryDropsEdit: ["no edit lost silently", "same digest by every road"],
        .moveDuplicates: ["no edit lost silently", "same digest by every road", "least edits"],
        .policyReadsClock: ["deleted stays deleted", "same digest by every road"],
        .registerByStamp: ["no edit lost silently", "same digest by every road"],
        .deletionForgetsBirths: ["deleted stays deleted"],
        .birthForgetsDeletions: ["deleted stays deleted", "least edits"],
        .schemaReplaces: ["no edit lost silently", "same digest by every road"],
        .upsertWritesUnchanged: ["least edits"],
        .textRemovalTakesAll: ["no edit lost silently", "same digest by every road"],
        .droppedEditsUnlisted: ["no edit lost silently"],
        .detachTakesSameFile: ["no edit lost silently", "same digest by every road"],
        .attachToFirstLife: ["no edit lost silently", "same digest by every road"],
        .deletionKeepsAttachments: ["needed blobs are those shown", "same digest by every road"],
        // What keeps and moves the bytes of attachments.
        .unboundedInFlight: ["bounded bulk memory"], .askTwice: ["fetched once"],
        .believeHashes: ["liars are not asked again"], .trustLiars: ["liars are not asked again"],
        .forgetCancelled: ["late bytes are used"], .believeFirstSize: ["attachments arrive"],
        .skipChunkHash: ["readable means right", "what came stays"],
        .rowBeforeFile: ["readable means right"], .sweepReferenced: ["removed after grace"],
        .forgetPartials: ["what came stays"], .skipFileSync: ["readable means right"],
        .skipFolderSync: ["readable means right"], .fileBeforeRow: ["readable means right"],
        .trustOldPages: ["readable means right"],
        // What a device does to its own history.
        .beginUninvited: ["retired devices write nothing"],
        // What a core believes of a member's word.
        .believeClaimedHeads: ["a member's word stops nothing"], .believeGoodbye: ["a member's word stops nothing"],
        // What a core says to a peer of another version.
        .sendUnagreedFrames: ["agreed frames only"],
        // What members make of a thief.
        .strictEndsStay: [
            "thieves are kept out", "same digest by every road", "convergence", "no edit lost silently",
        ],
        .countVoidAdditions: ["thieves are kept out", "same digest by every road"],
        .elderWins: ["thieves are kept out", "convergence", "same digest by every road"],
        .serveBarred: ["thieves are kept out"],
        .ignoreStatements: ["thieves are kept out", "convergence"],
        .hideIncomplete: [Standstill.name],
        // What becomes of the two histories of a machine that was put back while it ran.
        .leaveGivenWay: ["convergence"],
    ]
}
