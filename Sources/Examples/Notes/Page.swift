import Lanyard
import Synchronization

/// One open page: a stream of events to it, and the note that it has open. Each page is a participant of its own.
final class Page: Sendable {
    /// The room of the open note.
    private struct Open {
        let note: String
        /// The page's number of the latest stream of the text. A request for an earlier one may come behind it.
        var opening = 0
        var text: Task<Void, Never>?
        var people: Task<Void, Never>?
        var room: Presence<Cursor>?
        /// The last cursor of the page, which may have come before the room was entered.
        var cursor = Cursor()
    }

    /// Events that wait for a page which does not read. One that has more begins anew.
    private static let maximumWaiting = 4_096

    let id: String
    /// The events as Server-Sent Events, in UTF-8.
    let events: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let home: Lanyard
    private let open = Mutex<Open?>(nil)

    init(_ id: String, _ home: Lanyard) {
        self.id = id
        self.home = home
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumWaiting))
        // A page that lost its stream asks for another one after half a second.
        continuation.yield(Array("retry: 500\n\n".utf8))
    }

    /// Sends an event. JSON has no line breaks, so it is one line of data.
    func send(_ event: String, _ json: [UInt8]) {
        let bytes = Array("event: \(event)\ndata: ".utf8) + json + Array("\n\n".utf8)
        if case .dropped = continuation.yield(bytes) { close() }
    }

    /// Ends the stream, and leaves the note.
    func close() {
        continuation.finish()
        replaceOpen(by: nil)
    }

    // MARK: The open note

    /// Shows a note to the page from now on; nil for none.
    func show(_ note: String?) {
        guard let note else { return replaceOpen(by: nil) }
        if open.withLock({ $0?.note == note }) { return }
        replaceOpen(by: Open(note: note))
        let people = Task { [weak self, home] in
            while !Task.isCancelled {
                // A room waits for an agent that stops; one that does not answer at first is asked again.
                do {
                    let room = try await home.presence(Cursor.self, in: Cursor.room(of: note))
                    try await self?.enter(room, of: note)
                } catch {
                    self?.send("people", JSON.bytes(People(note: note, people: [])))
                }
                try? await Task.sleep(for: .seconds(1))
            }
        }
        open.withLock { $0?.people = people }
    }

    /// Sends the text of the open note, and each edit of it, from now on.
    ///
    /// - Parameter opening: the page's number for this stream, by which it knows lines of an earlier one.
    func followText(opening: Int) {
        let next = Task { [weak self, home, note = open.withLock { $0?.note }] in
            guard let note else { return }
            do {
                for try await line in home.textLines(
                    collection: Note.collection, id: ObjectID(note), field: "body", unit: .utf16)
                {
                    guard !Task.isCancelled, let self else { return }
                    self.send("text", JSON.bytes(Line(note: note, opening: opening, line: line)))
                }
            } catch {
                if !Task.isCancelled { self?.send("closed", JSON.bytes(["note": note, "error": "\(error)"])) }
            }
        }
        let last = open.withLock { open -> Task<Void, Never>? in
            guard let now = open, now.opening < opening else { return next }
            open?.opening = opening
            open?.text = next
            return now.text
        }
        last?.cancel()
    }

    /// Tells the others in the note where the person is.
    func set(_ cursor: Cursor) async {
        let room = open.withLock { open in
            open?.cursor = cursor
            return open?.room
        }
        // The next one says it, if this one is lost.
        try? await room?.set(cursor)
    }

    /// Shows the page to the others in a room, and them to the page, until the page leaves the note.
    private func enter(_ room: Presence<Cursor>, of note: String) async throws {
        let cursor = open.withLock { open -> Cursor? in
            guard open?.note == note else { return nil }
            open?.room = room
            return open?.cursor
        }
        guard let cursor else { return room.leave() }
        try await room.set(cursor)
        for try await people in room.people {
            send("people", JSON.bytes(People(note: note, people: people.filter { !$0.isMine }.map(Person.init))))
        }
    }

    private func replaceOpen(by next: Open?) {
        let last = open.withLock { open in
            defer { open = next }
            return open
        }
        last?.text?.cancel()
        last?.people?.cancel()
        last?.room?.leave()
    }

    // MARK: Events

    private struct Line: Encodable {
        let note: String
        let opening: Int
        let line: TextLine
    }

    private struct People: Encodable {
        let note: String
        let people: [Person]
    }

    private struct Person: Encodable {
        let session: String
        let name: String
        let isThisDevice: Bool
        let cursor: Cursor

        init(_ present: Present<Cursor>) {
            session = present.session.description
            name = present.value.name.isEmpty ? present.deviceName : present.value.name
            isThisDevice = present.isThisDevice
            cursor = present.value
        }
    }
}
