import ArgumentParser
import ControlAPI
import LanyardClient

struct Peers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show other devices on the network; add or remove an address to dial.",
        subcommands: [Add.self, Remove.self])
    @Flag(help: "Go on, and show every change.")
    var watch = false
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        guard watch else {
            let peers = try await client.peers()
            try await show(peers, client)
            if peers.isEmpty { global.note("No other agent is seen yet. Why: lanyard why") }
            return
        }
        let redraws = StandardOutput.isTerminal && !global.json
        try await client.watchPeers { peers in
            if redraws { try StandardOutput.clear() }
            try await show(peers, client)
        }
    }

    private func show(_ all: [Peer], _ client: LanyardClient) async throws {
        let peers = try listing.rows(all)
        // What arrives, arrives from peers; to programs, `status` says it.
        let transfers = global.json || global.quiet ? [] : (try? await client.status().transfers) ?? []
        try global.print(peers) { style in
            let arriving = TransferText.lines(transfers).map { "\(style.faint("arriving"))   \($0)\n" }
            return try PeerTable.text(peers, style, listing.table) + (arriving.isEmpty ? "" : "\n") + arriving.joined()
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Dial an address from now on, also without mDNS.")
        @Argument(help: ArgumentHelp("For example 192.168.1.20:21817.", valueName: "host:port"))
        var address: String
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let change = try await global.client().addPeer(try HostPort(parsing: address))
            try global.print(change) { _ in
                global.quiet ? "" : "\(change.address) \(change.changed ? "added" : "was known").\n"
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop dialling an address that was added.", aliases: ["rm"])
        @Argument(
            help: ArgumentHelp("As it was added.", valueName: "host:port"), completion: Completions.addresses)
        var address: String
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let change = try await global.client().removePeer(try HostPort(parsing: address))
            try global.print(change) { _ in global.quiet ? "" : "\(change.address) removed.\n" }
        }
    }
}

/// `lanyard peers` for people.
enum PeerTable {
    static func text(
        _ peers: [Peer], _ style: Style, _ format: TableFormat = .usual
    ) throws(ControlError) -> String {
        var table = Table(
            "NAME", "ID", "STATE", "ADDRESS", "VIA", "RTT", "BEHIND", "LAST SYNC", "VERSION",
            leastImportant: ["VERSION", "VIA", "RTT", "LAST SYNC", "ID", "ADDRESS"])
        let sorted = peers.sorted {
            ($0.paired ? 0 : 1, $0.name, $0.id ?? "") < ($1.paired ? 0 : 1, $1.name, $1.id ?? "")
        }
        for peer in sorted {
            table.add(
                Table.Cell(peer.name), Table.Cell(peer.shortID),
                Table.Cell(peer.paired ? peer.state.rawValue : "\(peer.state.rawValue), unpaired", paint(peer, style)),
                Table.Cell(peer.address), Table.Cell(peer.via?.rawValue),
                Table.Cell(Amounts.milliseconds(peer.rttMilliseconds)), Table.Cell(behind(peer.behind)),
                Table.Cell(TimeText.local.age(peer.lastSync)), Table.Cell(peer.version))
        }
        return try table.text(style, format)
    }

    private static func paint(_ peer: Peer, _ style: Style) -> (String) -> String {
        switch peer.state {
        case .connected: style.good
        case .connecting, .discovered: style.careful
        case .offline: style.faint
        }
    }

    private static func behind(_ behind: Peer.Behind) -> String {
        switch (behind.us, behind.them) {
        case (0?, 0?): "in step"
        case (nil, nil): "-"
        case (let us, let them): "us \(us.map(String.init) ?? "?"), them \(them.map(String.init) ?? "?")"
        }
    }
}
