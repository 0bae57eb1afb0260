import ControlAPI
import ControlServer
import Foundation
import Logging
import SyncAgent
import Testing

@Suite(.timeLimit(.minutes(20))) struct RouteTests {
    private static let events = "/v1/spaces/home/streams/s/events"

    @Test(arguments: Road.allCases)
    func `status has the promised keys`(road: Road) async throws {
        try await road.with { request async throws in
            let answer = try await request("GET", "/v1/status")
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "application/json")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
            let promised = ["device", "version", "uptimeSeconds", "discovery", "spaces", "peers", "store", "warnings"]
            #expect(Set(object.keys).isSuperset(of: promised))
            let space = try #require((object["spaces"] as? [[String: Any]])?.first)
            #expect(
                Set(space.keys).isSuperset(of: [
                    "name", "id", "changes", "objects", "events", "attachments", "deletedObjects", "versionVector",
                    "digest", "incomplete", "stable", "inStep", "standings", "sentence",
                ]))
        }
    }

    @Test(arguments: Road.allCases)
    func `a write is durable on this device, and one that was never made is on none`(road: Road) async throws {
        try await road.with { request async throws in
            let put = try await request("PUT", "/v1/spaces/home/collections/note/objects/n", body: #"{"a":1}"#)
            let version = try put.value(ObjectEntry.self).version
            func durability(_ query: String) async throws -> Answer {
                try await request("GET", "/v1/durability?timeoutMilliseconds=30&\(query)")
            }
            let here = try await durability("version=\(version)&devices=1").value(DurabilityResponse.self)
            #expect(here.reached && here.devices.count == 1)
            let there = try await durability("version=\(version)").value(DurabilityResponse.self)
            #expect(!there.reached && there.devices == here.devices)
            for text in ["\(version.replica):\(version.counter + 1)", "other:0"] {
                let answer = try await durability("version=\(text)&devices=1").value(DurabilityResponse.self)
                #expect(!answer.reached && answer.devices.isEmpty)
            }
            for query in ["", "version=x", "version=\(version)&devices=0", "version=\(version)&devices=x"] {
                #expect(try await durability(query).code == "invalid_argument", "\(query)")
            }
        }
    }

    @Test(arguments: Road.allCases)
    func `an event comes back with the bytes it was written with`(road: Road) async throws {
        try await road.with { request async throws in
            let body = #"{"type":"t","payload":{"z":1.0e+05,"a":"\u0041"}}"#
            let written = try await request("POST", Self.events, body: body)
            #expect(written.status == 200)
            #expect(try written.value(EmitResponse.self).count == 1)
            let page = try await request("GET", Self.events)
            #expect(page.text.contains(#""payload":{"z":1.0e+05,"a":"\u0041"}"#))
            let lines = try await request("GET", Self.events, headers: [("Accept", "application/x-ndjson")])
            #expect(lines.headers["content-type"] == "application/x-ndjson")
            let event = try #require(try page.value(EventPage.self).events.first)
            #expect(lines.body == JSONEncoding.bytes(event) + [0x0A])
            let sent = try await request("GET", Self.events, headers: [("Accept", "text/event-stream")])
            #expect(
                sent.text
                    == "id: \(event.position.text)\ndata: \(String(decoding: JSONEncoding.bytes(event), as: UTF8.self))\n\n"
            )
        }
    }

    @Test(arguments: Road.allCases)
    func `lines become events, each its own, up to the first bad one`(road: Road) async throws {
        try await road.with { request async throws in
            let lines = [("Content-Type", "application/x-ndjson")]
            let good = try await request("POST", Self.events + "?type=t", headers: lines, body: "1\n\n2\r\n3")
            #expect(try good.value(EmitResponse.self).count == 3)
            let bad = try await request("POST", Self.events, headers: lines, body: "4\n5\n{oops\n6\n")
            #expect(bad.status == 400)
            let error = try bad.value(ErrorResponse.self).controlError
            #expect(error.code == .malformedJSON)
            #expect(error.line == 3)
            #expect(error.written == 2)
            let page = try (try await request("GET", Self.events)).value(EventPage.self)
            #expect(page.events.map(\.payload.description) == ["1", "2", "3", "4", "5"])
            #expect(page.events.map(\.type) == ["t", "t", "t", nil, nil])
            let none = try await request("POST", Self.events, headers: lines, body: "")
            #expect(none.text == #"{"count":0,"first":null,"last":null}"#)
        }
    }

    @Test(arguments: Road.allCases)
    func `a stream is read from its end, and by type`(road: Road) async throws {
        try await road.with { request async throws in
            let lines = [("Content-Type", "application/x-ndjson")]
            _ = try await request("POST", Self.events + "?type=a", headers: lines, body: "1\n2\n3\n")
            _ = try await request("POST", Self.events + "?type=b", headers: lines, body: "4\n5\n6\n")
            func payloads(_ query: String) async throws -> [[String]] {
                let page = try (try await request("GET", Self.events + query)).value(EventPage.self)
                let read = try await request("GET", Self.events + query, headers: [("Accept", "application/x-ndjson")])
                let events = try read.text.split(separator: "\n").map {
                    try JSONDecoding.value(EventLine.self, from: Array($0.utf8), unknownKeys: .refuse)
                }
                return [page.events.map(\.payload.description), events.map(\.payload.description)]
            }
            let all = try (try await request("GET", Self.events)).value(EventPage.self).events.map(\.position.text)
            #expect(try await payloads("?last=2") == [["5", "6"], ["5", "6"]])
            #expect(try await payloads("?last=2&before=\(all[4])") == [["3", "4"], ["3", "4"]])
            #expect(try await payloads("?before=\(all[2])") == [["1", "2"], ["1", "2"]])
            #expect(try await payloads("?before=\(all[0])") == [[], []])
            #expect(try await payloads("?type=b&limit=2") == [["4", "5"], ["4", "5"]])
            #expect(try await payloads("?type=a&last=2") == [["2", "3"], ["2", "3"]])
            #expect(try await request("GET", Self.events + "?last=2&after=1").code == "invalid_argument")
            #expect(try await request("GET", Self.events + "?type=a&consumer=c").code == "invalid_argument")
        }
    }

    @Test(arguments: Road.allCases)
    func `many lines are written in their order`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            let text = (0..<5_000).map(String.init).joined(separator: "\n")
            let lines = [("Content-Type", "application/x-ndjson")]
            let before = live.agent.eventSignal.version
            let answer = try await request("POST", Self.events, headers: lines, body: text)
            #expect(try answer.value(EmitResponse.self).count == 5_000)
            // Each commit is signalled once, before the agent answers what is asked after it.
            _ = try await live.agent.status(space: nil)
            let commits = Int(live.agent.eventSignal.version - before)
            let fewest = (5_000 + ControlLimits.groupEvents - 1) / ControlLimits.groupEvents
            #expect((fewest...500).contains(commits), "\(commits)")
            let read = try await request("GET", Self.events, headers: [("Accept", "application/x-ndjson")])
            let events = try read.text.split(separator: "\n").map {
                try JSONDecoding.value(EventLine.self, from: Array($0.utf8), unknownKeys: .refuse)
            }
            #expect(events.map(\.payload.description) == (0..<5_000).map(String.init))
        }
    }

    @Test(arguments: Road.allCases)
    func `a payload of 1 MiB passes and one more byte does not`(road: Road) async throws {
        try await road.with { request async throws in
            let largest = "\"" + String(repeating: "x", count: ControlLimits.payloadBytes - 2) + "\""
            let tooLarge = "\"x" + largest.dropFirst()
            #expect(try await request("POST", Self.events, body: "{\"payload\":\(largest)}").status == 200)
            let refused = try await request("POST", Self.events, body: "{\"payload\":\(tooLarge)}")
            #expect(refused.status == 413)
            #expect(refused.code == "payload_too_large")
            #expect(refused.text.contains("Attach it as a file"))
            let lines = [("Content-Type", "application/x-ndjson")]
            #expect(try await request("POST", Self.events, headers: lines, body: largest + "\n").status == 200)
            #expect(
                try await request("POST", Self.events, headers: lines, body: tooLarge + "\n").code
                    == "payload_too_large")
            let endless = String(repeating: "x", count: 3 * ControlLimits.payloadBytes)
            #expect(try await request("POST", Self.events, headers: lines, body: endless).status == 413)
            #expect(try await request("POST", Self.events, body: endless).code == "body_too_large")
        }
    }

    @Test(arguments: Road.allCases)
    func `reading goes by pages, positions and order`(road: Road) async throws {
        try await road.with { request async throws in
            for number in 1...5 { _ = try await request("POST", Self.events, body: "{\"payload\":\(number)}") }
            let first = try (try await request("GET", Self.events + "?limit=2")).value(EventPage.self)
            #expect(first.events.map(\.payload.description) == ["1", "2"])
            let next = try #require(first.next)
            let rest = try (try await request("GET", Self.events + "?after=\(next.text)")).value(EventPage.self)
            #expect(rest.events.map(\.payload.description) == ["3", "4", "5"])
            let canonical = try await request("GET", Self.events + "?order=canonical&limit=1")
            #expect(try canonical.value(EventPage.self).events.map(\.payload.description) == ["1"])
            let mixed = try await request("GET", Self.events + "?order=canonical&after=3")
            #expect(mixed.code == "invalid_argument")
            let unknown = try await request(
                "GET", "/v1/spaces/home/streams/nothing/events", headers: [("Accept", "application/x-ndjson")])
            #expect(unknown.status == 200)
            #expect(unknown.body.isEmpty)
            #expect(unknown.headers["lanyard-stream-exists"] == "false")
        }
    }

    @Test(arguments: Road.allCases)
    func `what is unacknowledged comes again, marked`(road: Road) async throws {
        try await road.with { request async throws in
            for number in 1...3 { _ = try await request("POST", Self.events, body: "{\"payload\":\(number)}") }
            func read() async throws -> [EventLine] {
                try (try await request("GET", Self.events + "?consumer=c")).value(EventPage.self).events
            }
            let given = try await read()
            #expect(given.map(\.redelivered) == [false, false, false])
            let first = try #require(given.first).position.text
            let acknowledged = try await request(
                "POST", "/v1/spaces/home/consumers/c/acknowledge", body: "{\"stream\":\"s\",\"position\":\(first)}")
            #expect(acknowledged.status == 204)
            #expect(try await read().map(\.payload.description) == ["2", "3"])
            #expect(try await read().map(\.redelivered) == [true, true])
            let entry = try (try await request("GET", "/v1/spaces/home/consumers")).value([ConsumerEntry].self)
            #expect(entry == [ConsumerEntry(name: "c", stream: "s", position: given[0].position, behind: 2)])
            let moved = try await request("PUT", "/v1/spaces/home/consumers/c", body: #"{"position":0}"#)
            #expect(try moved.value(ConsumerEntry.self).behind == 3)
            #expect(try await request("DELETE", "/v1/spaces/home/consumers/c").text == #"{"removed":true}"#)
            #expect(try await request("DELETE", "/v1/spaces/home/consumers/c").text == #"{"removed":false}"#)
        }
    }

    @Test(arguments: Road.allCases)
    func `peers are added, removed and listed`(road: Road) async throws {
        try await road.with { request async throws in
            #expect(try await request("GET", "/v1/peers").text == "[]")
            let added = try await request("POST", "/v1/peers", body: #"{"address":"[fe80::1%eth0]:7"}"#)
            #expect(added.text == #"{"address":"[fe80::1%eth0]:7","changed":true}"#)
            let peers = try (try await request("GET", "/v1/peers")).value([Peer].self)
            #expect(peers.map(\.address) == ["[fe80::1%eth0]:7"] && peers.first?.paired == false)
            #expect(peers.first?.via == .static && peers.first?.id == nil)
            #expect(try await request("DELETE", "/v1/peers/%5Bfe80::1%25eth0%5D:7").status == 200)
            #expect(try await request("DELETE", "/v1/peers/%5Bfe80::1%25eth0%5D:7").code == "unknown_peer")
        }
    }

    @Test(arguments: Road.allCases)
    func `tickets work once`(road: Road) async throws {
        try await road.withAgent { request, inviter async throws in
            let answer = try await request("POST", "/v1/invitations", body: #"{"role":"writer","expiresSeconds":600}"#)
            let invited = try answer.value(InviteResponse.self)
            let left = invited.expires.millisecondsSinceEpoch - WallClock.milliseconds
            #expect((500_000...601_000).contains(left), "\(left)")
            let ticket = "{\"ticket\":\"\(invited.ticket)\"}"
            #expect(try await request("POST", "/v1/join", body: ticket).code == "ticket_invalid", "of its own")
            try await road.with { joiner async throws in
                let joined = try (try await joiner("POST", "/v1/join", body: ticket)).value(JoinResponse.self)
                #expect(joined == JoinResponse(device: inviter.device, space: "home", role: .writer))
            }
            // A device without open invitations says only that; this one has another.
            let open = try await request("POST", "/v1/invitations", body: #"{"role":"writer","expiresSeconds":600}"#)
            #expect(open.status == answer.status)
            try await road.with { late async throws in
                let refusal = try await late("POST", "/v1/join", body: ticket)
                #expect(refusal.code == "ticket_used", "\(refusal.text)")
            }
            #expect(try await request("POST", "/v1/join", body: #"{"ticket":""}"#).code == "ticket_invalid")
            for role in Role.allCases {
                let answer = try await request("POST", "/v1/invitations", body: "{\"role\":\"\(role.rawValue)\"}")
                #expect(try answer.value(InviteResponse.self).role == role)
            }
            for body in [#"{"expiresSeconds":0}"#, #"{"role":"king"}"#] {
                #expect(try await request("POST", "/v1/invitations", body: body).code == "invalid_argument")
            }
        }
    }

    @Test(arguments: Road.allCases)
    func `health, metrics, waiting and the rest answer`(road: Road) async throws {
        try await road.with { request async throws in
            #expect(try await request("GET", "/healthz").text == #"{"state":"ok"}"#)
            #expect(try await request("GET", "/readyz").text == #"{"ready":true,"waitingFor":[],"discovery":"off"}"#)
            #expect(try await request("GET", "/metrics").text.hasSuffix("\n"))
            let level = try await request("GET", "/v1/wait?peers=0&timeoutMilliseconds=5000")
            #expect(level.text.contains(#""inStep":true"#))
            let alone = try await request("GET", "/v1/wait?peers=9&timeoutMilliseconds=5")
            #expect(alone.text.contains(#""inStep":false"#))
            let checks = try (try await request("GET", "/v1/doctor?deep=true")).value([DoctorCheck].self)
            #expect(checks.filter { $0.state == .failed }.isEmpty)
            let log = try await request("GET", "/v1/logs?limit=1")
            #expect(log.text.hasPrefix(#"{"lines":[""#) && log.text.contains("The agent runs."))
            #expect(try await request("GET", "/v1/version").text.contains(LanyardVersion.current))
            #expect(try await request("GET", "/v1/configuration").text.contains("data-dir = "))
            let reloaded = try await request("POST", "/v1/configuration/reload")
            #expect(
                reloaded.text
                    == #"{"taken":[],"needsRestart":[],"failed":[],"file":null,"filePlaces":["\#(LiveAgent.noFile)"]}"#)
            #expect(try await request("GET", "/v1/why").text.contains(#""link":"pairing","ok":false"#))
            #expect(try await request("GET", "/v1/spaces/home/devices").text.contains(#""state":"this""#))
        }
    }

    private static let badInput: [(method: String, path: String, body: String?, status: Int, code: String)] = [
        ("GET", "/", nil, 404, "not_found"), ("GET", "/v1/nothing", nil, 404, "not_found"),
        ("GET", "/v1/status/", nil, 404, "not_found"), ("PATCH", "/v1/peers", nil, 405, "method_not_allowed"),
        ("GET", "/v1/status?spcae=home", nil, 400, "unknown_key"),
        ("GET", "/v1/status?space=home&space=home", nil, 400, "invalid_argument"),
        ("GET", "/v1/status?space=a%2Fb", nil, 400, "invalid_name"),
        ("GET", "/v1/status?space=%zz", nil, 400, "invalid_argument"),
        ("GET", "/v1/status?space=other", nil, 404, "unknown_space"),
        ("GET", "/v1/spaces/%FF/streams", nil, 400, "invalid_name"),
        ("GET", "/v1/spaces/home/streams/%0A/events", nil, 400, "invalid_name"),
        ("GET", "/v1/spaces/home/streams/s/events?after=x%20y", nil, 400, "invalid_argument"),
        ("GET", "/v1/spaces/home/streams/s/events?limit=0", nil, 400, "invalid_argument"),
        ("GET", "/v1/spaces/home/streams/s/events?order=random", nil, 400, "invalid_argument"),
        ("GET", "/v1/spaces/home/streams/s/events?follow=yes", nil, 400, "invalid_argument"),
        ("POST", "/v1/spaces/home/streams/s/events", "{", 400, "malformed_json"),
        ("POST", "/v1/spaces/home/streams/s/events", "", 400, "malformed_json"),
        ("POST", "/v1/spaces/home/streams/s/events", #"{"type":"t"}"#, 400, "invalid_argument"),
        ("POST", "/v1/spaces/home/streams/s/events", #"{"payload":1,"tpye":"t"}"#, 400, "unknown_key"),
        ("POST", "/v1/spaces/home/streams/s/events", #"{"payload":1,"type":"a/b"}"#, 400, "invalid_name"),
        ("POST", "/v1/peers", #"{"address":"nowhere"}"#, 400, "invalid_argument"),
        ("GET", "/v1/why?target=bob", nil, 404, "unknown_peer"),
        ("GET", "/v1/wait?timeoutMilliseconds=-1", nil, 400, "invalid_argument"),
    ]

    @Test(arguments: Road.allCases)
    func `bad input is refused with a status, a code and a hint`(road: Road) async throws {
        try await road.with { request async throws in
            for sample in Self.badInput {
                let answer = try await request(sample.method, sample.path, body: sample.body)
                #expect(answer.status == sample.status && answer.code == sample.code, "\(sample): \(answer.text)")
                #expect(answer.headers["content-type"] == "application/json")
                #expect(try !answer.value(ErrorResponse.self).controlError.hint.isEmpty, "\(sample)")
                if sample.status == 405 { #expect(answer.headers["allow"] == "GET, POST") }
            }
        }
    }

    @Test(arguments: Road.allCases)
    func `bodies of other types are refused`(road: Road) async throws {
        try await road.with { request async throws in
            let form = [("Content-Type", "application/x-www-form-urlencoded")]
            #expect(try await request("POST", Self.events, headers: form, body: "a=b").code == "unsupported_media_type")
            let lines = [("Content-Type", "application/x-ndjson")]
            #expect(try await request("POST", "/v1/peers", headers: lines, body: "1").code == "unsupported_media_type")
        }
    }

    @Test func `the OpenAPI document lists exactly the operations there are`() async throws {
        try await Road.router.withAgent { request, live async throws in
            let answer = try await request("GET", "/v1/openapi.json")
            let document = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
            let paths = try #require(document["paths"] as? [String: [String: Any]])
            let methods: Set = ["get", "put", "post", "patch", "delete"]
            let described = paths.flatMap { path, item in
                item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" }
            }
            #expect(described.sorted() == RouteTable(agent: live.agent).operations.sorted())
        }
    }
}
