/// The dots of all `addMember` facts, by the device they add, with what each says of its role, its founder and its end. They tell
/// whether an operation's author knew a device.
///
/// A fact counts wherever it is in a context, whatever became of its author: the meaning of an operation must not depend on
/// the node that asks. Facts whose binding does not hold are left out, on every node alike. Sorted; each pair of device and dot
/// once.
package struct MemberFacts: Hashable, Sendable {
    private struct Fact: Hashable, Comparable {
        let device: DeviceID
        let role: MemberFact.Role
        let founder: DeviceID?
        /// See `MemberFact.until`.
        let until: UInt64?
        /// See `MemberFact.isHost`.
        let isHost: Bool
        /// See `MemberFact.isReturn`.
        let isReturn: Bool
        let dot: Dot

        /// All but the device follows from the dot.
        static func < (left: Fact, right: Fact) -> Bool {
            left.device == right.device ? left.dot < right.dot : left.device < right.device
        }
    }

    private var facts: [Fact] = []

    package init() {}

    package mutating func add(
        _ device: DeviceID, role: MemberFact.Role, founder: DeviceID? = nil, until: UInt64? = nil,
        isHost: Bool = false, isReturn: Bool = false, at dot: Dot
    ) {
        insert(
            Fact(
                device: device, role: role, founder: founder, until: until, isHost: isHost, isReturn: isReturn, dot: dot
            ))
    }

    package mutating func add(_ fact: MemberFact, at dot: Dot) {
        add(
            fact.device, role: fact.role, founder: fact.founder, until: fact.until, isHost: fact.isHost,
            isReturn: fact.isReturn, at: dot)
    }

    private mutating func insert(_ fact: Fact) {
        let index = facts[...].firstPosition { !($0 < fact) }
        if index == facts.count || fact < facts[index] { facts.insert(fact, at: index) }
    }

    package mutating func join(_ other: MemberFacts) {
        for fact in other.facts { insert(fact) }
    }

    /// All facts, sorted by device and dot.
    package var additions: [(device: DeviceID, role: MemberFact.Role, founder: DeviceID?, dot: Dot)] {
        facts.map { ($0.device, $0.role, $0.founder, $0.dot) }
    }

    /// All facts as the law judges them.
    package var lawAdditions: [TrustLaw.Addition] {
        facts.map { TrustLaw.Addition(device: $0.device, role: $0.role, isReturn: $0.isReturn, dot: $0.dot) }
    }

    /// Returns the facts by which others let the device in, with the time at which each ends. A host is not let in by its guest.
    package func invitations(of device: DeviceID) -> [(dot: Dot, until: UInt64?)] {
        facts(of: device).filter { !$0.isHost && !$0.isReturn && $0.dot.replica.device != device }
            .map { ($0.dot, $0.until) }
    }

    /// The devices that a fact admits until a time; sorted, each once.
    package var limited: [DeviceID] {
        var devices: [DeviceID] = []
        for fact in facts where fact.until != nil && devices.last != fact.device { devices.append(fact.device) }
        return devices
    }

    /// Returns the facts that a node with this vector holds.
    package func held(at vector: VersionVector) -> MemberFacts {
        var held = self
        held.facts.removeAll { !vector.covers($0.dot) }
        return held
    }

    /// True if the context of the operation at `origin` covers an `addMember` of the device.
    package func knows(_ device: DeviceID, at origin: Origin) -> Bool {
        facts.contains { $0.device == device && origin.knows($0.dot) }
    }

    /// Every device that the author of the operation at `origin` knew as a member, sorted.
    package func devices(knownAt origin: Origin) -> [DeviceID] {
        var devices: [DeviceID] = []
        for fact in facts where devices.last != fact.device && origin.knows(fact.dot) { devices.append(fact.device) }
        return devices
    }

    /// Returns the devices that `ancestor` admitted, directly or through others, by the facts that count; `ancestor` is
    /// included. Sorted.
    package func reached(from ancestor: DeviceID, where counts: (Dot) -> Bool = { _ in true }) -> [DeviceID] {
        var admitted: [DeviceID: [DeviceID]] = [:]
        for fact in facts where counts(fact.dot) { admitted[fact.dot.replica.device, default: []].append(fact.device) }
        return Self.reached(from: ancestor, over: admitted)
    }

    /// The devices that chains of facts lead to, in whichever direction each fact was said; with the device itself, sorted.
    package func connected(with device: DeviceID) -> [DeviceID] {
        var neighbours: [DeviceID: [DeviceID]] = [:]
        for fact in facts {
            neighbours[fact.dot.replica.device, default: []].append(fact.device)
            neighbours[fact.device, default: []].append(fact.dot.replica.device)
        }
        return Self.reached(from: device, over: neighbours)
    }

    private static func reached(from start: DeviceID, over steps: [DeviceID: [DeviceID]]) -> [DeviceID] {
        var reached = [start]
        var isReached = Set(reached)
        var index = 0
        while index < reached.count {
            for device in steps[reached[index]] ?? [] where isReached.insert(device).inserted {
                reached.append(device)
            }
            index += 1
        }
        return reached.sorted()
    }

    /// True if `ancestor` admitted `device`, directly or through others.
    package func leads(from ancestor: DeviceID, to device: DeviceID) -> Bool {
        ancestor != device && reached(from: ancestor).contains(device)
    }

    /// True if an operation of `origin`'s author counts on something that `device` began. An operation that does not count is
    /// void on every node.
    ///
    /// It counts if the author is that device, or if a chain of admissions that the author knew leads from that device to the
    /// author. A fact that any other device admitted the author is not enough. When two meshes meet, a member of one knows
    /// what the other has deleted and forgotten only from the fact on that admits its own mesh.
    package func admits(_ origin: Origin, onWorkOf device: DeviceID) -> Bool {
        let author = origin.dot.replica.device
        if author == device { return true }
        var isAdmitting = false
        forEachAdmitting(origin) { admitting in
            isAdmitting = admitting == device || letIn(admitting, by: device, knownAt: origin)
            return !isAdmitting
        }
        return isAdmitting
    }

    /// Every device on whose work the operation counts: `admits` of all.
    package func admitting(_ origin: Origin) -> Set<DeviceID> {
        var admitting: Set<DeviceID> = []
        forEachAdmitting(origin) { device in
            admitting.insert(device)
            return true
        }
        return admitting
    }

    /// Calls `body` with the author, the devices that admitted it, those that admitted these, and so on, until it returns
    /// false.
    private func forEachAdmitting(_ origin: Origin, _ body: (DeviceID) -> Bool) {
        var reached = [origin.dot.replica.device]
        var isReached = Set(reached)
        var index = 0
        while index < reached.count, body(reached[index]) {
            for fact in facts(of: reached[index]) where origin.changeKnows(fact.dot) {
                let author = fact.dot.replica.device
                if isReached.insert(author).inserted { reached.append(author) }
            }
            index += 1
        }
    }

    /// True if `author` admitted `device`, as known at `origin`. It looks only at that author's facts about the device.
    private func letIn(_ device: DeviceID, by author: DeviceID, knownAt origin: Origin) -> Bool {
        let facts = facts(of: device)
        let first = facts.firstPosition { !($0.dot.replica.device < author) }
        return facts[first...].prefix { $0.dot.replica.device == author }.contains { origin.changeKnows($0.dot) }
    }

    private func facts(of device: DeviceID) -> ArraySlice<Fact> {
        let first = facts[...].firstPosition { !($0.device < device) }
        return facts[first..<facts[first...].firstPosition { device < $0.device }]
    }
}

extension ArraySlice {
    /// The first element from which on the condition holds, by halves; the end if there is none.
    fileprivate func firstPosition(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
