/// The members of a space as one device sees them: the closure of add-facts from its own device.
///
/// Facts whose author is not (yet) a member wait here without effect, so the order in which facts arrive does not
/// matter. Entries are kept sorted; nothing here depends on hash order.
package struct Membership: Hashable, Sendable {
    package struct Addition: Hashable, Sendable {
        package let author: DeviceID
        package let fact: MemberFact
        /// The author's wall clock, for display only.
        package let wallMilliseconds: Int64

        package init(author: DeviceID, fact: MemberFact, wallMilliseconds: Int64) {
            self.author = author
            self.fact = fact
            self.wallMilliseconds = wallMilliseconds
        }
    }

    package struct Member: Hashable, Sendable {
        package let device: DeviceID
        package let fact: MemberFact
        /// Nil for our own device.
        package let addedBy: DeviceID?
        package let addedAtMilliseconds: Int64
    }

    package let own: DeviceID
    /// Sorted by device; always holds our own.
    package private(set) var members: [Member]
    /// Facts by authors that are not members, in the order they came.
    private var waiting: [Addition] = []

    package init(own fact: MemberFact, sinceMilliseconds: Int64) {
        own = fact.device
        members = [Member(device: fact.device, fact: fact, addedBy: nil, addedAtMilliseconds: sinceMilliseconds)]
    }

    /// Takes a fact; void ones (a signing key that its device did not bind) change nothing.
    /// - Returns: the devices that became members, in the order they did.
    package mutating func add(_ addition: Addition) -> [DeviceID] {
        guard addition.fact.isBound else { return [] }
        waiting.append(addition)
        var admitted: [DeviceID] = []
        while let index = waiting.firstIndex(where: { self[$0.author] != nil }) {
            let next = waiting.remove(at: index)
            guard self[next.fact.device] == nil else { continue }
            let position = members.firstIndex { next.fact.device < $0.device } ?? members.count
            members.insert(
                Member(
                    device: next.fact.device, fact: next.fact, addedBy: next.author,
                    addedAtMilliseconds: next.wallMilliseconds), at: position)
            admitted.append(next.fact.device)
        }
        return admitted
    }

    package subscript(device: DeviceID) -> Member? { members.first { $0.device == device } }

    /// The key a device signs its changes with; nil for a device that is no member or may only read.
    package func signingKey(of device: DeviceID) -> [UInt8]? {
        guard let member = self[device], member.fact.role == .writer else { return nil }
        return member.fact.signingKey
    }
}
