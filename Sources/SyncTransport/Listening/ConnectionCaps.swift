/// Counts the connections accepted whose device is not known yet, in all and per address.
struct ConnectionCaps {
    private let total: Int
    private let perAddress: Int
    private var byAddress: [String: Int] = [:]
    private(set) var count = 0

    init(_ limits: TransportLimits) {
        total = limits.unauthenticated
        perAddress = limits.unauthenticatedPerAddress
    }

    /// Takes a place, or says why there is none.
    mutating func enter(_ host: String) -> EndReason? {
        if byAddress[host, default: 0] >= perAddress { return .tooManyFromAddress }
        if count >= total { return .tooManyUnauthenticated }
        byAddress[host, default: 0] += 1
        count += 1
        return nil
    }

    mutating func leave(_ host: String) {
        guard let present = byAddress[host] else { preconditionFailure("an address leaves that never entered") }
        byAddress[host] = present == 1 ? nil : present - 1
        count -= 1
    }
}
