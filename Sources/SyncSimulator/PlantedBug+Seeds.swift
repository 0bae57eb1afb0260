extension PlantedBug {
    /// The seed that found the bug last, where that takes more than a few: tried first, since a search from the beginning
    /// runs all that do not find it. It may grow old, when schedules change; then the others are tried in their order, and
    /// the search reports the new one.
    package var knownSeed: UInt64? { Self.knownSeeds[self] }

    private static let knownSeeds: [PlantedBug: UInt64] = [
        .counterAddsTwice: 13, .cutKeepsObjects: 13, .detachTakesSameFile: 13, .compactionDropsEvents: 14,
        .cutAtStable: 14,
        .reuseCounter: 20, .believeFirstSize: 25, .leaseIgnoresTail: 28, .stateForgetsEvents: 29,
        .stateWithoutLiveDots: 29, .settleAlone: 49, .stateForgetsDrops: 50,
        .stateStagedByName: 52, .compactionForgetsContexts: 66, .trustOldPages: 78, .cutAsksNobody: 86,
        .beginUninvited: 99, .stateForgetsFirstContexts: 102, .forgetCancelled: 111, .fileBeforeRow: 122,
        .forgetLostWant: 127,
    ]
}
