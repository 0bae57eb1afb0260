import SyncModel

extension MemoryContents: CutHistory {
    func contextSteps(of replica: ReplicaID) -> [(start: UInt64, moved: [VersionVector.Entry])] {
        (segments[replica] ?? []).flatMap(\.verified.segment.contextSteps)
    }

    func objects(touchedBy replica: ReplicaID, within counters: Range<UInt64>) -> Set<ObjectKey> {
        Set((segments[replica] ?? []).flatMap { $0.verified.segment.objects(within: counters) })
    }
}
