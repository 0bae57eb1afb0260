/// The members of a space as one device sees them: the closure of add-facts from its own device.
///
/// A function of the *set* of facts: those whose author is not (yet) a member wait here without effect, and of several
/// about one device the same one holds on every node, in whatever order they arrive. Entries are kept sorted.
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
        /// The author of `fact`; nil for our own device while no other member has added it. Who let the device in is `admission(of:)`.
        package let addedBy: DeviceID?
        package let addedAtMilliseconds: Int64

        fileprivate init(_ addition: Addition) {
            device = addition.fact.device
            fact = addition.fact
            addedBy = addition.author
            addedAtMilliseconds = addition.wallMilliseconds
        }

        fileprivate init(own fact: MemberFact, sinceMilliseconds: Int64) {
            device = fact.device
            self.fact = fact
            addedBy = nil
            addedAtMilliseconds = sinceMilliseconds
        }
    }

    package let own: DeviceID
    /// Sorted by device; always holds our own.
    package private(set) var members: [Member]
    /// Facts by authors that are not members, sorted, each once.
    private var waiting: [Addition] = []
    private var pairings = Pairings()
    /// Author → the founders that its facts name.
    private var founders: [DeviceID: Set<DeviceID>] = [:]

    package init(own fact: MemberFact, sinceMilliseconds: Int64) {
        own = fact.device
        members = [Member(own: fact, sinceMilliseconds: sinceMilliseconds)]
    }

    /// Takes a fact; void ones (a signing key that its device did not bind) change nothing.
    /// - Returns: the devices that became members, in the order they did.
    package mutating func add(_ addition: Addition) -> [DeviceID] {
        guard addition.fact.isBound else { return [] }
        guard self[addition.author] != nil else {
            let index = waiting.firstIndex { !($0 < addition) } ?? waiting.count
            if index == waiting.count || addition < waiting[index] { waiting.insert(addition, at: index) }
            return []
        }
        var admitted: [DeviceID] = []
        var ready = [addition]
        while let next = ready.popLast() {
            pairings.record(next)
            if let founder = next.fact.founder { founders[next.author, default: []].insert(founder) }
            guard take(next) else { continue }
            admitted.append(next.fact.device)
            ready += waiting.filter { $0.author == next.fact.device }
            waiting.removeAll { $0.author == next.fact.device }
        }
        return admitted
    }

    /// - Returns: whether the device was no member before.
    private mutating func take(_ addition: Addition) -> Bool {
        let device = addition.fact.device
        let index = members.firstIndex { device <= $0.device } ?? members.count
        guard index < members.count, members[index].device == device else {
            members.insert(Member(addition), at: index)
            return true
        }
        // What we say of ourselves decides nothing: others know us by what they said.
        guard addition.author != device else { return false }
        let present = members[index]
        guard let author = present.addedBy else {
            members[index] = Member(addition)
            return false
        }
        let held = Addition(author: author, fact: present.fact, wallMilliseconds: present.addedAtMilliseconds)
        if addition < held { members[index] = Member(addition) }
        return false
    }

    /// The host that let the device in, and when, by the host's clock. Nil for the founder of the space.
    package func admission(of device: DeviceID) -> Admission? {
        if let admission = pairings.admission(of: device) { return admission }
        guard !pairings.isHost(device), let member = self[device], let author = member.addedBy else { return nil }
        return Admission(author: author, wallMilliseconds: member.addedAtMilliseconds)
    }

    /// Returns the members that said to follow another founder, and never that they follow this one. Sorted.
    package func followers(besides founder: DeviceID) -> [DeviceID] {
        members.map(\.device).filter { device in founders[device].map { !$0.contains(founder) } ?? false }
    }

    /// Returns the member with this device id; nil if there is none. It is a binary search, since it runs for every arriving
    /// change.
    package subscript(device: DeviceID) -> Member? {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if members[middle].device < device { low = middle + 1 } else { high = middle }
        }
        return low < members.count && members[low].device == device ? members[low] : nil
    }

    /// The key a device signs its changes with, whatever its role; nil for a device that is no member. Changes of readers are
    /// verified and passed on like all others.
    package func signingKey(of device: DeviceID) -> [UInt8]? { self[device]?.fact.signingKey }
}

extension Membership.Addition: Comparable {
    /// Orders the facts about one device; the least holds. That of the more powerful role comes first, then the lesser signing
    /// key (a device that bound two is at fault), then the older, then by author and bytes.
    package static func < (left: Self, right: Self) -> Bool {
        if left.fact.role != right.fact.role { return left.fact.role > right.fact.role }
        if left.fact.signingKey != right.fact.signingKey {
            return left.fact.signingKey.lexicographicallyPrecedes(right.fact.signingKey)
        }
        if left.wallMilliseconds != right.wallMilliseconds { return left.wallMilliseconds < right.wallMilliseconds }
        if left.author != right.author { return left.author < right.author }
        return left.fact.encoded.lexicographicallyPrecedes(right.fact.encoded)
    }
}
