/// The admission of a member: by which host, and when.
package struct Admission: Hashable, Sendable {
    package let author: DeviceID
    /// The author's wall clock, for display only.
    package let wallMilliseconds: Int64
}

/// The pairings that add-facts tell of: a host lets a guest in, and the guest says who its host was.
///
/// A device was let in by the host that it names itself, if that host did let it in. So no third member can change what is shown of
/// it, whatever clock it claims. The founder of the space names no host, and has no admission. A function of the set of facts, as
/// `Membership` is.
package struct Pairings: Hashable, Sendable {
    /// Guest → hosts that it named, with its clock; each host once, with the earliest.
    private var hosts: [DeviceID: [DeviceID: Int64]] = [:]
    /// Device → members that let it in, with their clocks; each once, with the earliest.
    private var admissions: [DeviceID: [DeviceID: Int64]] = [:]
    /// The devices that an addition named as a host.
    private var named: Set<DeviceID> = []

    package init() {}

    package mutating func record(_ addition: Membership.Addition) {
        let (author, device, wall) = (addition.author, addition.fact.device, addition.wallMilliseconds)
        guard author != device else { return }
        if addition.fact.isHost {
            named.insert(device)
            hosts[author, default: [:]][device] = min(wall, hosts[author]?[device] ?? wall)
        } else {
            admissions[device, default: [:]][author] = min(wall, admissions[device]?[author] ?? wall)
        }
    }

    /// Returns the founder of the space that the device joined: from host to host, each by the admission that is shown, to a device
    /// that names no host. Nil if a host on the way did not let its guest in, or is not known to, and for a circle.
    package func founder(followedFrom device: DeviceID) -> DeviceID? {
        var (founder, passed) = (device, Set([device]))
        while hosts[founder] != nil {
            guard let admission = admission(of: founder), passed.insert(admission.author).inserted else { return nil }
            founder = admission.author
        }
        return founder
    }

    func isHost(_ device: DeviceID) -> Bool { named.contains(device) }

    /// The admission by the host that the device named first, by its own clock.
    func admission(of device: DeviceID) -> Admission? {
        let pairs = (hosts[device] ?? [:]).compactMap { host, named in
            admissions[device]?[host].map { (named: named, admission: Admission(author: host, wallMilliseconds: $0)) }
        }
        return pairs.min { ($0.named, $0.admission.author) < ($1.named, $1.admission.author) }?.admission
    }
}
