/// The knowledge of a connection's address before its device is known.
package enum AddressStanding: Sendable, CaseIterable {
    /// A member was met there, or a person gave the address.
    case known
    /// A record on the network names it for a member. Records can be forged, so these do not share places with `known`.
    case named
    case stranger
}

/// Counts the connections accepted whose device is not known yet: by standing of their address, per address, and of strangers per
/// network, so that no host and no network of strangers takes the places of members that come back.
struct ConnectionCaps {
    /// A place that a connection holds.
    struct Place {
        fileprivate let host: String
        fileprivate let network: String
        fileprivate let standing: AddressStanding
    }

    private let limits: TransportLimits
    private var byStanding: [AddressStanding: Int] = [:]
    private var byAddress: [String: Int] = [:]
    /// The number of places that strangers hold, by network.
    private var byNetwork: [String: Int] = [:]

    init(_ limits: TransportLimits) { self.limits = limits }

    /// Takes a place, or says why there is none.
    mutating func enter(_ host: String, _ standing: AddressStanding) throws(Refusal) -> Place {
        let place = Place(host: host, network: Self.network(of: host), standing: standing)
        if byAddress[host, default: 0] >= limits.unauthenticatedPerAddress {
            throw Refusal(reason: .tooManyFromAddress)
        }
        if standing == .stranger, byNetwork[place.network, default: 0] >= limits.strangersPerNetwork {
            throw Refusal(reason: .tooManyFromNetwork)
        }
        if byStanding[standing, default: 0] >= limits.unauthenticated(standing) {
            throw Refusal(reason: .tooManyUnauthenticated)
        }
        byAddress[host, default: 0] += 1
        byStanding[standing, default: 0] += 1
        if standing == .stranger { byNetwork[place.network, default: 0] += 1 }
        return place
    }

    mutating func leave(_ place: Place) {
        Self.decrease(&byAddress, place.host)
        Self.decrease(&byStanding, place.standing)
        if place.standing == .stranger { Self.decrease(&byNetwork, place.network) }
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let present = counts[key] else { preconditionFailure("\(key) leaves that never entered") }
        counts[key] = present == 1 ? nil : present - 1
    }

    struct Refusal: Error {
        let reason: EndReason
    }

    /// The /24 of an IPv4 address, the /64 of an IPv6 one: what one host can have addresses of, as a rule.
    static func network(of host: String) -> String {
        guard host.contains(":") else { return host.split(separator: ".").prefix(3).joined(separator: ".") }
        let address = host.prefix { $0 != "%" }
        // RFC 4291, section 2.2: `::` stands once, for as many groups of zeros as are missing.
        let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let front = halves[0].split(separator: ":").map(String.init)
        let back = halves.count > 1 ? halves[1].split(separator: ":").map(String.init) : []
        let zeros = Array(repeating: "0", count: max(0, 8 - front.count - back.count))
        return (front + (halves.count > 1 ? zeros : []) + back).prefix(4).joined(separator: ":")
    }
}
