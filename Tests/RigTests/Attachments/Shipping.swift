/// Bytes that agents sent each other, below TLS and above TCP: what the packet filter counts, less the headers.
///
/// The counters belong to the node's network, so they outlive its agent.
struct Shipping: Equatable {
    var received: Int
    var sent: Int

    static func - (left: Shipping, right: Shipping) -> Shipping {
        Shipping(received: left.received - right.received, sent: left.sent - right.sent)
    }
}

extension Node {
    /// From now on `shipping` counts.
    func countShipping() throws {
        // Loaded a second time, rules would count everything twice.
        let rules = """
            add table inet shipping
            delete table inet shipping
            table inet shipping {
                counter in4 { }
                counter in6 { }
                counter out4 { }
                counter out6 { }
                chain in {
                    type filter hook input priority 0;
                    iifname "eth0" meta nfproto ipv4 meta l4proto tcp counter name in4;
                    iifname "eth0" meta nfproto ipv6 meta l4proto tcp counter name in6;
                }
                chain out {
                    type filter hook output priority 0;
                    oifname "eth0" meta nfproto ipv4 meta l4proto tcp counter name out4;
                    oifname "eth0" meta nfproto ipv6 meta l4proto tcp counter name out6;
                }
            }
            """
        let outcome = try run(["nft", "-f", "-"], input: rules)
        guard outcome.status == 0 else { throw RigError(description: "nft on \(name): \(outcome.errors)") }
    }

    func shipping() throws -> Shipping {
        struct Answer: Decodable {
            struct Entry: Decodable {
                struct Counter: Decodable {
                    let name: String
                    let packets: Int
                    let bytes: Int
                }
                let counter: Counter?
            }
            let nftables: [Entry]
        }
        let counters = try decode(
            Answer.self, try run(["nft", "-j", "list", "counters", "table", "inet", "shipping"]).output)
        var shipping = Shipping(received: 0, sent: 0)
        for counter in counters.nftables.compactMap(\.counter) {
            // TCP with timestamps, and IP: of each packet as the filter sees it, which is up to 64 KiB long.
            let payload = counter.bytes - counter.packets * (counter.name.hasSuffix("4") ? 52 : 72)
            if counter.name.hasPrefix("in") { shipping.received += payload } else { shipping.sent += payload }
        }
        return shipping
    }
}

extension Rig {
    /// What came to these nodes while the body ran.
    func received(by numbers: [Int], during body: () throws -> Void) throws -> Int {
        let before = try numbers.map { try node($0).shipping().received }
        try body()
        return try numbers.indices.map { try node(numbers[$0]).shipping().received - before[$0] }.reduce(0, +)
    }
}
