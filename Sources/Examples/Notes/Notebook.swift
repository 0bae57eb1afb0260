import FoundationEssentials
import Glibc
import Lanyard

/// All notes as the agent on this machine has them, and the pages that show them.
///
/// Nothing is kept here that the agent does not have: the program may be ended at any moment.
actor Notebook {
    /// A note, ready to be listed and searched.
    struct Listed {
        var note: Note
        var summary: Summary
        /// The summary as JSON, made once for each change of the note.
        var json: [UInt8]
        /// The text and the tags as they are searched.
        var searched: [CChar]

        init(_ note: Note, picture: String?) {
            self.note = note
            summary = Summary(note, picture: picture)
            json = JSON.bytes(summary)
            searched = Self.searched(note.body + "\n" + summary.tags.joined(separator: "\n"))
        }

        /// Small letters in UTF-8, with a zero at the end and none before it: the C library is the fastest to search them.
        static func searched(_ text: String) -> [CChar] {
            text.lowercased().utf8.map { CChar(bitPattern: $0 == 0 ? 0x20 : $0) } + [0]
        }
    }

    /// The notes that a page is sent at once: more than any window shows.
    private static let firstNotes = 200
    /// The notes in each further message.
    private static let moreNotes = 2_000

    nonisolated let home: Lanyard
    nonisolated let device: StatusResponse.Device
    nonisolated let pictures: Pictures

    private(set) var notes: [String: Listed] = [:]
    /// The times of edits that this program wrote to notes.
    var lastSaid: [String: Int64] = [:]
    private var isLoaded = false
    private var pages: [String: Page] = [:]
    private var standing: [UInt8] = []
    private let standingChanges = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(_ home: Lanyard) async throws {
        self.home = home
        device = try await home.client.status().device
        pictures = Pictures(home)
    }

    /// Follows the notes, the pictures and the other devices until the task is cancelled.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.followNotes() }
            group.addTask { await self.followStanding() }
            group.addTask { await self.followPeers() }
            group.addTask {
                for await change in self.pictures.changes { await self.send("picture", change) }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    // MARK: The list

    private func followNotes() async throws {
        for try await notes in home.query(Note.self).skippingUnreadable().live() {
            try await take(notes)
            // A list need not change with each letter. What happens meanwhile comes as one change.
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Takes the notes as they are now, and tells the pages what changed.
    private func take(_ current: [Note]) async throws {
        var changed = current.filter { notes[$0.id.text]?.note != $0 }
        let added = changed.count { notes[$0.id.text] == nil }
        var gone: [String] = []
        if notes.count + added > current.count {
            gone = Set(notes.keys).subtracting(current.map(\.id.text)).sorted()
        }
        if !isLoaded {
            await pictures.readAll()
        } else if changed.isEmpty, gone.isEmpty {
            // Another program attached something: that changes no field.
            await pictures.readAll()
            let newest = await pictures.newest
            changed = current.filter { notes[$0.id.text]?.summary.picture != newest[$0.id] }
        } else {
            // This program says the time of an edit after it has attached a picture.
            for note in changed where notes[note.id.text]?.note.edited != note.edited { await pictures.read(of: note) }
        }
        let newest = await pictures.newest
        for id in gone { notes[id] = nil }
        for note in changed { notes[note.id.text] = Listed(note, picture: newest[note.id]) }
        if isLoaded {
            sendChanges(changed.map(\.id.text), gone: gone)
        } else {
            isLoaded = true
            for page in pages.values { sendAll(to: page) }
        }
        standingChanges.continuation.yield()
    }

    private func sendChanges(_ ids: [String], gone: [String]) {
        if ids.isEmpty, gone.isEmpty { return }
        send("notes", list("changed", ids.compactMap { notes[$0]?.json }, ",\"gone\":" + JSON.text(gone)))
    }

    /// Sends the whole list: what is seen first comes first.
    private func sendAll(to page: Page) {
        let sorted = notes.values.map { listed in
            let summary = listed.summary
            let kind: Int64 = summary.inBin ? 2 : summary.archived ? 1 : 0
            return (place: (kind, -summary.edited), json: listed.json)
        }.sorted { $0.place < $1.place }.map(\.json)
        let count = ",\"count\":\(sorted.count)"
        page.send("notes", list("all", sorted.prefix(Self.firstNotes), count))
        var rest = sorted.dropFirst(Self.firstNotes)
        while !rest.isEmpty {
            page.send("notes", list("more", rest.prefix(Self.moreNotes)))
            rest = rest.dropFirst(Self.moreNotes)
        }
    }

    private func list(_ key: String, _ entries: some Collection<[UInt8]>, _ end: String = "") -> [UInt8] {
        Array("{\"\(key)\":[".utf8) + entries.joined(separator: ",".utf8) + Array("]\(end)}".utf8)
    }

    /// Returns the ids of the notes in which each word of the query stands, in the text or as a tag.
    func search(_ query: String) -> [String] {
        let words = query.lowercased().split(whereSeparator: \.isWhitespace).map { Listed.searched(String($0)) }
        return notes.values.filter { listed in words.allSatisfy { strstr(listed.searched, $0) != nil } }
            .map(\.summary.id)
    }

    // MARK: Pages

    /// Shows the notes to a page until its connection ends.
    func enter(_ page: Page) {
        pages.updateValue(page, forKey: page.id)?.close()
        page.send("hello", JSON.bytes(["device": device.name]))
        if !standing.isEmpty { page.send("standing", standing) }
        if isLoaded { sendAll(to: page) }
    }

    func leave(_ page: Page) {
        page.close()
        // The page may have come back on another connection.
        if pages[page.id] === page { pages[page.id] = nil }
    }

    func page(_ id: String) throws(ControlError) -> Page {
        guard let page = pages[id] else {
            throw ControlError(.notFound, "This page is not connected.", hint: "It connects again by itself.")
        }
        return page
    }

    func send(_ event: String, _ json: [UInt8]) {
        for page in pages.values { page.send(event, json) }
    }

    // MARK: The other devices

    /// A change of the connections may be what brings pictures, and changes the standing.
    private func followPeers() async {
        while !Task.isCancelled {
            do {
                try await home.client.watchPeers { _ in
                    standingChanges.continuation.yield()
                    await pictures.tryAgain()
                }
            } catch {
                // The agent stopped. The standing says so, and it is asked again.
                standingChanges.continuation.yield()
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Tells the pages how the other devices stand, again whenever that may have changed.
    private func followStanding() async {
        for await _ in standingChanges.stream {
            var now = await Standing.read(home)
            show(now)
            while now.isBringing, !Task.isCancelled {
                // Returns as soon as the connected devices have all.
                _ = try? await home.client.wait(connectedOnly: true, timeoutMilliseconds: 2_000)
                now = await Standing.read(home)
                show(now)
                if now.isBringing { try? await Task.sleep(for: .milliseconds(200)) }
            }
            try? await Task.sleep(for: .milliseconds(500))
        }
    }

    private func show(_ now: Standing) {
        let json = JSON.bytes(now)
        if json == standing { return }
        standing = json
        send("standing", json)
    }
}

/// The standing of the other devices: do they have what is here?
struct Standing: Encodable, Sendable {
    /// False while the agent does not answer.
    var isAgentThere = false
    /// The names of connected devices that have all.
    var inStep: [String] = []
    /// The names of connected devices that lack something.
    var behind: [String] = []
    /// The names of devices without a connection.
    var away: [String] = []

    var isBringing: Bool { !behind.isEmpty }

    static func read(_ home: Lanyard) async -> Standing {
        guard let status = try? await home.client.status(),
            let space = status.spaces.first(where: { $0.name == home.space })
        else { return Standing() }
        var standing = Standing(isAgentThere: true)
        for device in space.standings {
            switch (device.connected, device.state) {
            case (false, _): standing.away.append(device.name)
            case (true, .inStep): standing.inStep.append(device.name)
            case (true, _): standing.behind.append(device.name)
            }
        }
        return standing
    }
}
