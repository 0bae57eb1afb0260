import LawHistories
import SyncModel
import SyncSimulator
import Testing

/// A disk that is put back to before a deletion: the object may be in two states, and in no third.
@Suite struct ForgettingTests {
    private typealias Entry = DeletionRules.Entry

    private static let writer = replica(1)
    private static let lost = replica(2)
    /// The history of the same device on the disk that was put back.
    private static let later = replica(2, incarnation: 1)

    private static func replica(_ device: UInt8, incarnation: UInt64 = 0) -> ReplicaID {
        ReplicaID(
            device: DeviceID(bytes: [UInt8](repeating: device, count: DeviceID.byteCount))!, incarnation: incarnation)
    }

    private static func entry(
        _ step: DeletionRules.Step, _ replica: ReplicaID, _ counter: UInt64, knowing context: VersionVector
    ) -> Entry {
        let stamp = Stamp(rawValue: UInt64(context.entries.reduce(1) { $0 + $1.next } + counter) << 16)
        return Entry(
            step: step, origin: Origin(dot: Dot(replica: replica, counter: counter), stamp: stamp, context: context),
            wallMilliseconds: 0)
    }

    private static func vector(_ parts: (ReplicaID, UInt64)...) -> VersionVector {
        VersionVector(parts.map { VersionVector.Entry(replica: $0.0, next: $0.1) })
    }

    // The device deletes an edited life of another one, loses that disk, and edits the life on the old one.
    private let facts = [
        entry(.member(lost.device), writer, 0, knowing: vector()),
        entry(.member(writer.device), lost, 0, knowing: vector()),
    ]
    private let life = entry(.birth, writer, 1, knowing: vector((lost, 1)))
    private let edit = entry(.edit(Dot(replica: writer, counter: 1)), lost, 1, knowing: vector((writer, 2)))
    private let deletion = entry(.delete(.updateWins), lost, 2, knowing: vector((writer, 2)))
    private let newLife = entry(.birth, writer, 2, knowing: vector((lost, 3)))
    private let lateEdit = entry(
        .edit(Dot(replica: writer, counter: 1)), later, 0, knowing: vector((writer, 2), (lost, 1)))

    private var entries: [Entry] { facts + [life, edit, deletion, newLife, lateEdit] }

    private let forgetting = Forgetting(
        device: lost.device, now: vector((writer, 2), (lost, 1)), elsewhere: vector((writer, 3), (lost, 3)))

    private static func staying(by entries: [Entry]) -> [Dot] {
        DeletionRules(entries: entries).verdicts.filter { $0.value == .stays }.keys.sorted()
    }

    @Test func `what a device wrote without its own lost deletion is blind, and the deletion is not`() {
        #expect(forgetting.blind(in: entries) == [lateEdit])
    }

    @Test func `a node shows the one state if it keeps the deletion, and the other if it has forgotten it`() {
        let blind = forgetting.blind(in: entries)
        let keeping = lives(isForgetting: false)
        #expect(keeping.judgement == .live([life.dot, newLife.dot]))
        #expect(Self.staying(by: entries) == [life.dot, newLife.dot])
        let forgetful = lives(isForgetting: true)
        #expect(forgetful.judgement == .live([newLife.dot]))
        #expect(Self.staying(by: entries.filter { !blind.contains($0) }) == [newLife.dot])
    }

    /// The object as a node keeps it that has heard of the late edit last.
    private func lives(isForgetting: Bool) -> ObjectLives {
        var lives = ObjectLives()
        var members = MemberFacts()
        for entry in entries {
            switch entry.step {
            case .member(let device): members.add(device, role: .writer, at: entry.dot)
            case .birth: _ = lives.bear(at: entry.origin, span: 1, wallMilliseconds: 0)
            case .edit(let life):
                let isLate = entry == lateEdit
                let admission = lives.edit(life, at: entry.origin, span: 1, wallMilliseconds: 0, members: members)
                #expect(admission == (isLate && isForgetting ? .unknownLife : .applied(life: life)))
            case .delete(let policy):
                _ = lives.delete(policy, at: entry.origin, wallMilliseconds: 0, members: members) { [] }
                if isForgetting { #expect(lives.collect { _ in true }) }
            case .keep: Issue.record("no step of these histories decides")
            }
        }
        return lives
    }
}
