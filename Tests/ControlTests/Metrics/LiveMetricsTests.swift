import ControlAPI
import ControlServer
import Foundation
import Testing

/// The metrics of real agents.
@Suite struct LiveMetricsTests {
    private func exposition(of live: LiveAgent) async throws -> Exposition {
        let text = try await MetricsReader(agent: live.agent).read().text(.openMetrics)
        let exposition = Exposition(text)
        #expect(exposition.faults == [])
        return exposition
    }

    private func write(_ count: Int, to live: LiveAgent) async throws {
        for number in 0..<count {
            _ = try await live.agent.emit(
                space: "home", stream: "lights",
                events: [EventDraft(type: nil, payload: try JSONText("\(number)"))])
        }
    }

    @Test(arguments: Road.allCases)
    func `a scrape is what its type says`(road: Road) async throws {
        try await road.with { request async throws in
            let open = try await request("GET", "/metrics")
            #expect(open.headers["content-type"] ?? "" == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(Exposition(open.text).faults == [])
            let plain = try await request("GET", "/metrics", headers: [("Accept", "text/plain")])
            #expect(plain.headers["content-type"] ?? "" == "text/plain; version=0.0.4; charset=utf-8")
            #expect(!plain.text.contains("# EOF"))
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
    func `promtool has nothing to say of a scrape`() async throws {
        try await LiveAgent.with { live async throws in
            try await write(3, to: live)
            let text = try await MetricsReader(agent: live.agent).read().text(.prometheus)
            let (status, words) = try Promtool.run(["check", "metrics"], input: text)
            #expect(status == 0, "\(words)")
        }
    }

    @Test func `an agent alone says what it holds`() async throws {
        try await LiveAgent.with { live async throws in
            try await write(3, to: live)
            let now = try await exposition(of: live)
            #expect(now.value("lanyard_events", ["space": "home"]) == 3)
            #expect(now.value("lanyard_members", ["space": "home"]) == 1)
            #expect(now.value("lanyard_in_step", ["space": "home"]) == 1)
            #expect(now.value("lanyard_store_ok") == 1)
            #expect(now.value("lanyard_conflicts", ["space": "home"]) == 0)
            #expect((now.value("lanyard_commit_seconds_count") ?? 0) >= 3)
            #expect((now.value("lanyard_store_sync_seconds_count") ?? 0) >= 3)
            #expect((now.value("lanyard_disk_free_bytes") ?? 0) > 0)
            #expect((now.value("lanyard_process_resident_memory_bytes") ?? 0) > 1_048_576)
            #expect((now.value("lanyard_process_open_descriptors") ?? 0) > 3)
            let build = ["version": LanyardVersion.current, "device": live.device, "name": "desk"]
            #expect(now.value("lanyard_build_info", build) == 1)
            // Each family that needs neither a peer nor an error has a sample.
            let silent = now.families.filter { $0.value.samples.isEmpty }.keys
                .filter { !$0.hasPrefix("lanyard_peer_") }.sorted()
            let silentOnes = ["ended_sessions", "errors", "reconnects", "refusals", "warnings"].map { "lanyard_" + $0 }
            #expect(Set(silent).isSubset(of: silentOnes), "\(silent)")
        }
    }

    @Test func `lag grows while a peer is away, and is gone when it has all`() async throws {
        try await LiveAgent.with { desk async throws in
            try await LiveAgent.with(named: "attic") { attic async throws in
                try await desk.pair(with: attic)
                let link = ["space": "home", "peer": "attic", "device": attic.device]
                let device = ["peer": "attic", "device": attic.device]
                try await write(5, to: desk)
                try await desk.converge(with: attic)
                try await desk.until { _ async throws in
                    let now = try await self.exposition(of: desk)
                    return now.value("lanyard_peer_unsent_changes", link) == 0
                        && now.value("lanyard_peer_unsent_seconds", link) == 0
                        && now.value("lanyard_peer_wanted_operations", link) == 0
                        && now.value("lanyard_peer_connected", device) == 1
                        && (now.value("lanyard_durable_seconds_count", ["devices": "2"]) ?? 0) >= 5
                }
                let there = try await exposition(of: attic)
                #expect((there.value("lanyard_apply_seconds_count") ?? 0) >= 1)
                await attic.stop()
                try await desk.until { _ async throws in
                    try await self.exposition(of: desk).value("lanyard_peer_connected", device) == 0
                }
                try await write(7, to: desk)
                let behind = try await exposition(of: desk)
                #expect(behind.value("lanyard_peer_unsent_changes", link) == 7)
                #expect((behind.value("lanyard_peer_unsent_bytes", link) ?? 0) > 0)
                #expect(behind.value("lanyard_in_step", ["space": "home"]) == 0)
                let age = try #require(behind.value("lanyard_peer_unsent_seconds", link))
                #expect(age >= 0 && age < 60)
                try await desk.until { _ async throws in
                    (try await self.exposition(of: desk).value("lanyard_peer_unsent_seconds", link) ?? 0) > age
                }
                let ended = behind.families["lanyard_ended_sessions"]?.samples.map(\.value).reduce(0, +) ?? 0
                #expect(ended >= 1)
            }
        }
    }

    @Test func `after a restart the age of what a peer lacks is that of the log`() async throws {
        let place = try TemporaryDirectory()
        let directory = place.path + "/data"
        let attic = try await LiveAgent.with(in: directory) { desk async throws in
            let attic = try await desk.addAwayMember(named: "attic").device
            try await write(4, to: desk)
            return attic
        }
        try await LiveAgent.with(in: directory) { desk async throws in
            let link = ["space": "home", "peer": "attic", "device": attic]
            let now = try await exposition(of: desk)
            // Not known before the peer's acknowledgement or a session: absent, not 0.
            let unsent = now.value("lanyard_peer_unsent_changes", link)
            #expect(unsent == nil || (unsent ?? 0) >= 4)
            #expect((now.value("lanyard_peer_unacknowledged_seconds", link) ?? -1) >= 0)
        }
    }
}
