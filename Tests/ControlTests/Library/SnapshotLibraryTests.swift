import ControlAPI
import Lanyard
import Testing

/// Batches of events, streams that keep the latest only, and states that a consumer begins with.
@Suite(.timeLimit(.minutes(20))) struct SnapshotLibraryTests {
    private struct Stop: Error {}

    private func tracks(
        _ home: Lanyard, consumer: String?, after: EventPosition? = nil
    ) async throws -> [String] {
        var tracks: [String] = []
        for try await batch in home.eventBatches(of: Played.self, consumer: consumer, after: after, follow: false) {
            #expect(!batch.isEmpty)
            tracks += batch.map(\.value.track)
        }
        return tracks
    }

    // MARK: Batches

    @Test func `a consumer's place moves on behind a batch that the loop has finished with`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            for number in 1...3 { try await home.emit(Played(track: "t\(number)")) }
            var seen: [String] = []
            await #expect(throws: Stop.self) {
                for try await batch in home.eventBatches(of: Played.self, consumer: "c") {
                    seen += batch.map(\.value.track)
                    if seen.count == 3 { throw Stop() }
                }
            }
            #expect(seen == ["t1", "t2", "t3"])
            #expect(try await tracks(home, consumer: "c").last == "t3", "the last batch was not finished with")
            #expect(try await tracks(home, consumer: "c") == [])
            #expect(try await tracks(home, consumer: nil) == ["t1", "t2", "t3"])
        }
    }

    @Test func `events before one that does not fit are given, and positions compare`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.emit(Played(track: "t1"))
            try await home.emit(Played(track: "t2"))
            _ = try await server.client.emit(try JSONText(#"{"track":7}"#), to: "played")
            var events: [ReceivedEvent<Played>] = []
            let error = await #expect(throws: ControlError.self) {
                for try await batch in home.eventBatches(of: Played.self, follow: false) { events += batch }
            }
            #expect(error?.code == .typeMismatch)
            #expect(events.map(\.value.track) == ["t1", "t2"])
            #expect(events[0].position < events[1].position)
            let rest = home.eventBatches(of: Played.self, after: events[0].position, follow: false)
            #expect(try await rest.first { _ in true }?.first?.position == events[1].position)
        }
    }

    // MARK: Latest only

    private struct Switched: LanyardEvent {
        var lamp = ""
        var on = false

        static var stream: String { "lights" }
        var eventType: String? { lamp }
    }

    @Test func `an event's own type makes a stream show the latest of each`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.setStream(of: Switched.self, StreamSettings(latestOnly: true))
            for (lamp, on) in [("hall", true), ("desk", true), ("hall", false)] {
                try await home.emit(Switched(lamp: lamp, on: on))
            }
            try await home.transaction { try $0.emit(Switched(lamp: "desk", on: false)) }
            var lamps: [String: Bool] = [:]
            var count = 0
            for try await event in home.events(of: Switched.self, follow: false) {
                lamps[event.value.lamp] = event.value.on
                count += 1
            }
            #expect(count == 2 && lamps == ["hall": false, "desk": false])
        }
    }

    @Test func `a stream that is kept so already is not written again`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            func changes() async throws -> Int? {
                try await home.client.status().spaces.first { $0.name == "home" }?.changes
            }
            let settings = StreamSettings(latestOnly: true, retention: .seconds(3_600))
            try await home.setStream(of: Switched.self, settings)
            let before = try await changes()
            try await home.setStream(of: Switched.self, settings)
            try await home.setStream(of: Switched.self, StreamSettings(latestOnly: true))
            #expect(try await changes() == before)
            try await home.setStream(of: Switched.self, StreamSettings(retention: .forever))
            let stream = try await home.client.streams().first { $0.name == "lights" }
            #expect(stream?.latestOnly == true && stream?.retainSeconds == nil)
        }
    }

    // MARK: Snapshots

    @Test func `a consumer that begins with a state is given just the other events`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            for number in 1...3 { try await home.emit(Played(track: "t\(number)")) }
            #expect(try await tracks(home, consumer: "a").count == 3)
            try await home.saveSnapshot(["plays": 3], of: Played.self, consumer: "a", schema: 2)
            try await home.emit(Played(track: "t4"))
            var kept: [String: Int] = [:]
            let restored = try await home.restoreSnapshot(
                [String: Int].self, of: Played.self, consumer: "b", schema: 2
            ) { kept = $0 }
            #expect(kept == ["plays": 3] && restored?.state == kept && restored?.snapshot.schema == 2)
            #expect(try await tracks(home, consumer: "b") == ["t4"])
        }
    }

    @Test func `without a state of this version a consumer begins from nothing`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            func restored(_ schema: Int64) async throws -> [String: Int]? {
                try await home.restoreSnapshot([String: Int].self, of: Played.self, consumer: "a", schema: schema) {
                    #expect($0 == ["plays": 1])
                }?.state
            }
            #expect(try await restored(1) == nil)
            try await home.restart(consumer: "a", of: Played.self)
            #expect(try await home.consumer("a", of: Played.self) == nil)
            try await home.emit(Played(track: "t1"))
            #expect(try await tracks(home, consumer: "a") == ["t1"])
            try await home.saveSnapshot(["plays": 1], of: Played.self, consumer: "a", schema: 1)
            #expect(try await restored(2) == nil)
            #expect(try await home.consumer("a", of: Played.self)?.restoring == false)
            #expect(try await tracks(home, consumer: "a") == [])
            try await home.restart(consumer: "a", of: Played.self)
            #expect(try await tracks(home, consumer: "a") == ["t1"])
        }
    }

    @Test func `a restore whose state was not kept, or does not fit, leaves a consumer that reads nothing`()
        async throws
    {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.emit(Played(track: "t1"))
            #expect(try await tracks(home, consumer: "a") == ["t1"])
            try await home.saveSnapshot(["plays": 1], of: Played.self, consumer: "a", schema: 1)
            await #expect(throws: Stop.self) {
                _ = try await home.restoreSnapshot([String: Int].self, of: Played.self, consumer: "b", schema: 1) { _ in
                    throw Stop()
                }
            }
            let misfit = await #expect(throws: ControlError.self) {
                _ = try await home.restoreSnapshot([String].self, of: Played.self, consumer: "b", schema: 1) { _ in }
            }
            #expect(misfit?.code == .typeMismatch)
            #expect(try await home.consumer("b", of: Played.self)?.restoring == true)
            let error = await #expect(throws: ControlError.self) { _ = try await tracks(home, consumer: "b") }
            #expect(error?.code == .restoreUnfinished)
            #expect(
                try await home.restoreSnapshot([String: Int].self, of: Played.self, consumer: "b", schema: 1) { _ in }
                    != nil)
            #expect(try await tracks(home, consumer: "b") == [])
        }
    }
}
