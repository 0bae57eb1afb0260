/// The dots of all `addMember` facts, by the device they add: answers whether an operation's author knew a device.
///
/// A fact counts wherever it is in a context, whatever became of its author: what an operation means must not depend on
/// who asks. Facts whose binding does not hold are left out, on every node alike. Sorted; each pair once.
package struct MemberFacts: Hashable, Sendable {
    private struct Fact: Hashable, Comparable {
        let device: DeviceID
        let dot: Dot

        static func < (left: Fact, right: Fact) -> Bool {
            left.device == right.device ? left.dot < right.dot : left.device < right.device
        }
    }

    private var facts: [Fact] = []

    package init() {}

    package mutating func add(_ device: DeviceID, at dot: Dot) {
        let fact = Fact(device: device, dot: dot)
        let index = facts.firstIndex { !($0 < fact) } ?? facts.count
        if index == facts.count || facts[index] != fact { facts.insert(fact, at: index) }
    }

    /// Whether the context of the operation at `origin` covers an `addMember` of the device.
    package func knows(_ device: DeviceID, at origin: Origin) -> Bool {
        facts.contains { $0.device == device && origin.knows($0.dot) }
    }

    /// Every device that the author of the operation at `origin` knew as a member, sorted.
    package func devices(knownAt origin: Origin) -> [DeviceID] {
        var devices: [DeviceID] = []
        for fact in facts where devices.last != fact.device && origin.knows(fact.dot) { devices.append(fact.device) }
        return devices
    }

    /// Whether an operation of `origin`'s author on something that `device` began counts: its own, or it was let in
    /// before it wrote. An operation that does not count is void on every node.
    package func admits(_ origin: Origin, onWorkOf device: DeviceID) -> Bool {
        origin.dot.replica.device == device || knows(origin.dot.replica.device, at: origin)
    }
}
