/// The rules of membership as a model: roles, revocation, the recovery key, founding and the finality of revocations.
///
/// Everything here is a function of a set of facts, written to be laid beside the rules. The model imports nothing, so
/// it shares no mistake with the code that it judges.
package enum Roles {}

extension Roles {
    /// A device. The founder of a space is device 0; letters are for people.
    package struct Device: Hashable, Comparable, Sendable, CustomStringConvertible {
        package let index: Int

        package init(_ index: Int) { self.index = index }

        package static let founder = Device(0)
        /// F founded the space, A and B are honest, T is a thief, X and Y are its accomplices. The rest is for larger meshes.
        package static let letters = Array("FATXBYCDEGHIJKLM")

        package static func < (left: Self, right: Self) -> Bool { left.index < right.index }
        package var description: String { String(Self.letters[index]) }
    }

    /// One writable history of a device; a device may have several.
    package struct Replica: Hashable, Comparable, Sendable, CustomStringConvertible {
        package let device: Device
        package let number: Int

        package init(_ device: Device, _ number: Int) {
            self.device = device
            self.number = number
        }

        package static func < (left: Self, right: Self) -> Bool {
            (left.device, left.number) < (right.device, right.number)
        }
        package var description: String { "\(device).\(number)" }
    }

    /// What a member may do. Each role may do what the lesser ones may.
    package enum Role: Int, Comparable, Sendable, CaseIterable {
        case none, reader, writer, admin

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Counters of replicas: ends that a fact names, or what an acknowledgement covers. A replica without an entry is at 0.
    package struct Counters: Hashable, Sendable, CustomStringConvertible {
        /// Sorted by replica; each counter is greater than 0.
        package private(set) var entries: [(replica: Replica, counter: Int)] = []

        package init() {}

        package subscript(replica: Replica) -> Int {
            get { entries.first { $0.replica == replica }?.counter ?? 0 }
            set {
                let index = entries.firstIndex { replica <= $0.replica } ?? entries.count
                if index < entries.count, entries[index].replica == replica { entries.remove(at: index) }
                if newValue > 0 { entries.insert((replica, newValue), at: index) }
            }
        }

        package static func == (left: Self, right: Self) -> Bool { left.entries.elementsEqual(right.entries, by: ==) }
        package func hash(into hasher: inout Hasher) {
            for entry in entries {
                hasher.combine(entry.replica)
                hasher.combine(entry.counter)
            }
        }
        package var description: String {
            "{" + entries.map { "\($0.replica):\($0.counter)" }.joined(separator: ", ") + "}"
        }
    }

    /// Up to 64 facts of one history, by their ids.
    package struct FactSet: Hashable, Sendable, Sequence {
        package var bits: UInt64

        package init(bits: UInt64 = 0) { self.bits = bits }
        package init(_ ids: some Sequence<Int>) {
            bits = 0
            for id in ids { insert(id) }
        }

        /// The first `count` facts.
        package static func first(_ count: Int) -> FactSet {
            FactSet(bits: count >= 64 ? .max : (1 << UInt64(count)) - 1)
        }

        package var isEmpty: Bool { bits == 0 }
        package var count: Int { bits.nonzeroBitCount }
        /// The greatest id; nil if there is none.
        package var last: Int? { bits == 0 ? nil : 63 - bits.leadingZeroBitCount }
        package func contains(_ id: Int) -> Bool { bits >> UInt64(id) & 1 == 1 }
        package mutating func insert(_ id: Int) { bits |= 1 << UInt64(id) }
        package mutating func remove(_ id: Int) { bits &= ~(1 << UInt64(id)) }
        package func isSubset(of other: FactSet) -> Bool { bits & ~other.bits == 0 }

        package static func & (left: Self, right: Self) -> Self { FactSet(bits: left.bits & right.bits) }
        package static func | (left: Self, right: Self) -> Self { FactSet(bits: left.bits | right.bits) }
        package static func - (left: Self, right: Self) -> Self { FactSet(bits: left.bits & ~right.bits) }

        /// The ids, ascending.
        package func makeIterator() -> Iterator { Iterator(rest: bits) }
        package struct Iterator: IteratorProtocol {
            var rest: UInt64
            package mutating func next() -> Int? {
                guard rest != 0 else { return nil }
                defer { rest &= rest - 1 }
                return rest.trailingZeroBitCount
            }
        }
    }
}
