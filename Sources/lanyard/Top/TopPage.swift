import ControlAPI

/// A page of `lanyard top`.
struct TopPage {
    private let sample: TopSample
    private let recent: [ObjectChange]
    private let style: Style

    init(_ sample: TopSample, recent: [ObjectChange], style: Style) {
        self.sample = sample
        self.recent = recent
        self.style = style
    }

    // MARK: For people

    /// - Parameter height: the lines that there is room for; nil for all. Tables give way from the end.
    func lines(height: Int?) -> [String] {
        var lines = head + [""] + peers
        let transfers = TransferText.lines(sample.status.transfers).map { "\(style.faint("arriving"))  \($0)" }
        if !transfers.isEmpty { lines += [""] + transfers }
        let changed = recent.map(line)
        if !changed.isEmpty { lines += ["", style.faint("NEWEST CHANGES")] + changed }
        return height.map { Array(lines.prefix(max(1, $0 - 1))) } ?? lines
    }

    private var head: [String] {
        let status = sample.status
        let time = TimeText.local.exact(sample.time).dropFirst(11)
        var lines = [
            "\(style.strong(shown(status.device.name)))  \(time)  up \(TimeText.length(seconds: status.uptimeSeconds))"
        ]
        for space in status.spaces {
            let sentence = space.shownSentence
            lines.append(space.inStep ? style.good(sentence) : style.careful(sentence))
            var counts = [
                "\(Amounts.count(space.changes, "change")) (+\(ByteAmount.decimal(sample.changesPerSecond))/s)",
                Amounts.count(space.objects, "object"), Amounts.count(space.events, "event"),
                Amounts.count(space.attachments, "attachment"),
            ]
            if space.conflicts > 0 { counts.append(style.careful(Amounts.count(space.conflicts, "conflict"))) }
            lines.append(counts.joined(separator: ", "))
        }
        let state = status.store.state == "ok" ? style.good("ok") : style.bad(shown(status.store.state))
        lines.append("store \(Amounts.bytes(status.store.bytes)), \(state)")
        lines += status.warnings.prefix(3).map { style.careful("warning  \(shown($0.message))") }
        if status.warnings.count > 3 { lines.append(style.careful("… see: lanyard status")) }
        return lines
    }

    private var peers: [String] {
        var table = Table(
            "PEER", "STATE", "RTT", "IN/S", "OUT/S", "US BEHIND", "THEM", "HEARD",
            leastImportant: ["HEARD", "RTT", "STATE"])
        let sorted = sample.peers.sorted {
            ($0.peer.paired ? 0 : 1, $0.peer.name) < ($1.peer.paired ? 0 : 1, $1.peer.name)
        }
        for row in sorted {
            let peer = row.peer
            let isUp = peer.state == .connected
            table.add(
                Table.Cell(peer.name),
                Table.Cell(peer.paired ? peer.state.rawValue : "unpaired") { isUp ? style.good($0) : style.faint($0) },
                Table.Cell(Amounts.milliseconds(peer.rttMilliseconds)),
                Table.Cell(isUp ? ByteAmount.text(row.inPerSecond) : "-"),
                Table.Cell(isUp ? ByteAmount.text(row.outPerSecond) : "-"), Table.Cell(peer.behind.us),
                Table.Cell(peer.behind.them), Table.Cell(TimeText.local.age(peer.lastSync)))
        }
        guard !sorted.isEmpty else { return [style.faint("No other agent is seen.")] }
        return table.text(style).split(separator: "\n").map(String.init)
    }

    private func line(_ change: ObjectChange) -> String {
        let name = "\(shown(change.collection))/\(shown(change.id))"
        return change.deleted
            ? "\(style.bad("deleted"))  \(name)" : "\(name)  \(style.faint(shown(author(of: change))))"
    }

    /// The name of the device whose replica wrote the newest version; its short id stands before the point.
    private func author(of change: ObjectChange) -> String {
        guard let version = change.version else { return "" }
        let short = String(version.replica.prefix { $0 != "." })
        if short == sample.status.device.shortID { return sample.status.device.name }
        return sample.peers.first { $0.peer.shortID == short }?.peer.name ?? short
    }

    // MARK: For programs

    struct Answer: Encodable {
        struct Peer: Encodable {
            let id: String?
            let name: String
            let state: ControlAPI.Peer.State
            let paired: Bool
            let rttMilliseconds: Double?
            let behind: ControlAPI.Peer.Behind
            let inPerSecond: UInt64
            let outPerSecond: UInt64
            let lastSync: Timestamp?
        }

        struct Change: Encodable {
            let collection: String
            let id: String
            let deleted: Bool
            let device: String?
        }

        let time: Timestamp
        let device: StatusResponse.Device
        let inStep: Bool
        let changesPerSecond: Double
        let peers: [Peer]
        let store: StatusResponse.Store
        let spaces: [StatusResponse.Space]
        let transfers: [StatusResponse.Transfer]
        let recent: [Change]
    }

    var answer: Answer {
        Answer(
            time: sample.time, device: sample.status.device, inStep: sample.status.spaces.allSatisfy(\.inStep),
            changesPerSecond: sample.changesPerSecond,
            peers: sample.peers.map { row in
                Answer.Peer(
                    id: row.peer.id, name: row.peer.name, state: row.peer.state, paired: row.peer.paired,
                    rttMilliseconds: row.peer.rttMilliseconds, behind: row.peer.behind,
                    inPerSecond: row.inPerSecond, outPerSecond: row.outPerSecond, lastSync: row.peer.lastSync)
            }, store: sample.status.store, spaces: sample.status.spaces, transfers: sample.status.transfers,
            recent: recent.map { change in
                Answer.Change(
                    collection: change.collection, id: change.id, deleted: change.deleted,
                    device: change.version == nil ? nil : author(of: change))
            })
    }
}
