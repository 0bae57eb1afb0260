/// The ends of histories as a model: forks by `holds`, retirement in two phases, floor proofs, deletions, and disks that
/// are put back. Decision 37 weighed these rules and did not take them.
///
/// Changes, facts, works and devices are numbers of one `World`. What a node holds are sets of them. A context is read
/// by counters, as on a wire: two changes of one replica with one counter (a fork) look the same in it. Left out are
/// prevention, add-facts that are void, and newcomers that begin without the state of the member that admits them.
package enum Histories {
    package typealias Device = Int

    package static func name(_ device: Device) -> String { String(Array("ABCDEFGHIJKLMNOP")[device]) }
    package static func names(_ devices: Bits) -> String { devices.map(name).joined() }

    /// One writable history of a device.
    package struct Replica: Hashable, Sendable {
        package let device: Device
        /// The facts that its first change knew.
        let firstFacts: Bits
        /// The facts, proposals among them, that the returns among these know: it is exempt from their ends.
        let answered: Bits
    }

    /// One signed change. Its number is greater than those of all changes that its author had seen.
    package struct Change: Hashable, Sendable {
        package enum Operation: Hashable, Sendable {
            case write
            /// Hangs from the dot of this change.
            case edit(Int)
            /// Ends all of one object that its context covers.
            case delete
        }

        package let replica: Int
        /// Counted from 1.
        package let counter: Int
        /// This change and those before it in its history.
        let chain: Bits
        /// Everything that its author held, without this change. Its context are the counters of that.
        let seen: Bits
        package let operation: Operation
        let object: Int
        /// What a person did. A rewriting has the number of the first writing. A deletion has none.
        package let work: Int?
    }

    /// A signed record that travels apart from the log, with all facts that its author knew.
    package struct Fact: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case add(Device)
            /// Two histories of a replica were seen; they have this in common.
            case fork(replica: Int, common: Bits)
            /// The branch of a forked replica that the author holds.
            case holds(replica: Int)
            case propose(Bits)
            case promise(Int)
            /// Names as ends what its author holds of the proposal's devices.
            case retire(Int)
            case bound(Int)
            case release(Int)
            /// Admits a device again; answers each retirement whose proposal the author knows.
            case comeBack(Device)
            /// All members that count acknowledged these changes: the floor proof of a node that forgot.
            case floor(Bits)
        }

        package let kind: Kind
        package let author: Device
        let knows: Bits
        /// The changes that its author held.
        let held: Bits
    }

    /// A member's signed acknowledgement.
    struct Acknowledgement: Hashable, Sendable {
        var version = 0
        var held = Bits()
        var facts = Bits()
    }

    /// The disk of a device.
    package struct Node: Hashable, Sendable {
        package internal(set) var facts = Bits()
        /// Changes with effect, each history from its beginning on.
        package internal(set) var held = Bits()
        /// The part of `held` that is here as state alone: it can be neither served as changes nor undone.
        var base = Bits()
        /// The bytes of changes without effect. They are passed on, so that an author can write both branches again.
        var kept = Bits()
        var acknowledgements: [Acknowledgement]
        /// Works of this device that its disk has had.
        var mine = Bits()
        /// Works of this device that have no effect for now. Its own screen shows them.
        package internal(set) var aside = Bits()
        /// The replica that the device writes to; nil before the next write begins one.
        var current: Int?
        /// Proposals whose `bound` of its own it did not know: it acts as a device that returns.
        var forgotten = Bits()
        package internal(set) var isAlive = true
        package internal(set) var isMember = true

        init(devices: Int) { acknowledgements = Array(repeating: Acknowledgement(), count: devices) }
    }
}
