import SyncCore
import SyncModel
import SyncStore

/// The course of things in a world of thieves.
struct Thieves {
    /// One thing that a thief does.
    enum Act: CaseIterable {
        case admitAccomplice, revoke, revokeAll, lower, raiseItself, write
    }

    var random: SplitMix64
    let key: RecoveryKey
    /// True once the thief has the machine: its agent passes over what is stated about it.
    var isStolen = false
    /// The devices that the recovery key has admitted again.
    var readmitted: Set<DeviceID> = []
    /// An older state of the thief's disk, from which it will write on.
    var forkPoint: DiskImage?
    /// The rounds in which a person looked whether all is right.
    var rounds = 0

    init?(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x7374_6f6c_656e_2121)
        let bytes = (0..<RecoveryKey.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        guard let key = RecoveryKey(bytes: bytes) else { return nil }
        self.random = random
        self.key = key
    }
}

/// A step of the plan of such a world.
enum ThiefStep {
    /// The founder makes the recovery key.
    case makeKey
    /// An admin changes a role.
    case change
    case keepDisk
    case steal
    /// An admin revokes the thief.
    case notice
    case act
    /// The thief keeps its disk; later it puts that back, and writes other things under the same counters.
    case fork
    /// The thief retires another device, which comes back by itself.
    case retire
    /// A person looks on one machine whether all is right, and puts right what is not.
    case putRight
}

extension [LocalWrite] {
    /// True if it is a statement on a role: the recovery key also speaks on a device that is away.
    var isStatement: Bool { allSatisfy { if case .trust = $0 { true } else { false } } }
}
