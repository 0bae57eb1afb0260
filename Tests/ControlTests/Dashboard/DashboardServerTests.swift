import ControlAPI
import ControlServer
import Foundation
import NIOCore
import SyncAgent
import Testing

@Suite(.timeLimit(.minutes(20))) struct DashboardServerTests {
    @Test func `an address signs one browser in, once`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let path = try dashboard.path(of: try #require(dashboard.access.link(alsoAt: [])).url)
            let first = try await dashboard.request("GET", path)
            #expect(first.status == 303)
            #expect(first.headers["location"] == "/")
            let cookie = try #require(first.headers["set-cookie"])
            #expect(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict"))
            #expect(cookie.hasPrefix(dashboard.access.cookieName + "="))
            let second = try await dashboard.request("GET", path)
            #expect(second.status == 401)
            #expect(second.headers["set-cookie"] == nil)
            #expect(second.text.contains("lanyard dashboard"))
            let page = try await dashboard.request("GET", "/", [("Cookie", String(cookie.prefix { $0 != ";" }))])
            #expect(page.status == 200)
            #expect(page.text.contains("/program.js"))
        }
    }

    @Test func `an address that a browser opens that is signed in already is good for no other`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = try await dashboard.signIn()
            let path = try dashboard.path(of: try #require(dashboard.access.link(alsoAt: [])).url)
            // A page elsewhere that knows no address cannot use one up.
            let elsewhere = try await dashboard.request("GET", path, [("Cookie", cookie)], host: "evil.example")
            #expect(elsewhere.status == 421)
            let again = try await dashboard.request("GET", path, [("Cookie", cookie)])
            #expect(again.status == 303)
            #expect(again.headers["set-cookie"] == nil)
            #expect(try await dashboard.request("GET", path).status == 401)
            #expect(try await dashboard.request("GET", "/", [("Cookie", cookie)]).status == 200)
        }
    }

    @Test func `a browser that is not signed in sees how to, and nothing else`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = dashboard.access.cookieName
            for headers in [
                [], [("Cookie", "\(cookie)=\(String(repeating: "0", count: 64))")], [("Cookie", "\(cookie)=")],
            ] {
                let page = try await dashboard.request("GET", "/", headers)
                #expect(page.status == 401 && page.text.contains("lanyard dashboard"))
                for path in ["/program.js", "/v1/overview", "/v1/version", "/v1/logs"] {
                    let answer = try await dashboard.request("GET", path, headers)
                    #expect(answer.status == 401 && answer.body.isEmpty, "\(path)")
                }
            }
            #expect(try await dashboard.request("GET", "/?token=\(String(repeating: "0", count: 64))").status == 401)
            #expect(try await dashboard.request("GET", "/dashboard.css").status == 200)
        }
    }

    @Test func `a request that is not of the page gets no content`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = ("Cookie", try await dashboard.signIn())
            let own = ("Origin", dashboard.origin)
            let change = (DashboardGate.changeHeader, "1")
            let path = "/v1/spaces/home/devices/\(dashboard.live.device)/block"
            func expect(
                _ status: Int, _ method: String, _ path: String, _ headers: [(String, String)], host: String? = nil,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let answer = try await dashboard.request(method, path, [cookie] + headers, host: host)
                #expect(answer.status == status, "\(method) \(path) \(headers)", sourceLocation: sourceLocation)
                if [401, 403, 421].contains(status) {
                    #expect(answer.body.isEmpty, "\(answer.text)", sourceLocation: sourceLocation)
                }
            }
            try await expect(200, "GET", "/", [])
            try await expect(200, "GET", "/", [("Sec-Fetch-Site", "none")])
            try await expect(200, "GET", "/v1/version", [own, ("Sec-Fetch-Site", "same-origin")])
            // A name that was bound to this address, and names that look like ours.
            for name in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil.example"] {
                try await expect(421, "GET", "/", [], host: "\(name):\(dashboard.access.port ?? 0)")
                try await expect(421, "GET", "/v1/version", [], host: name)
            }
            // What leads here by another port, as `ssh -L` does, has our name.
            try await expect(200, "GET", "/", [], host: "localhost:9999")
            // Another site, another port of this host, a page without an origin.
            for origin in ["http://evil.example", "http://127.0.0.1:1", "null", "https://\(dashboard.host)"] {
                try await expect(403, "GET", "/v1/version", [("Origin", origin)])
                try await expect(403, "PUT", path, [("Origin", origin), change])
            }
            for site in ["cross-site", "same-site"] {
                try await expect(403, "GET", "/", [("Sec-Fetch-Site", site)])
                try await expect(403, "GET", "/v1/version", [("Sec-Fetch-Site", site)])
                try await expect(403, "PUT", path, [own, change, ("Sec-Fetch-Site", site)])
            }
            // What a form can send, and what a page of ours always sends.
            try await expect(403, "PUT", path, [change])
            try await expect(403, "PUT", path, [own])
            try await expect(403, "POST", "/", [own])
            // It comes to the agent, which refuses to block itself.
            let answer = try await dashboard.request("PUT", path, [cookie, own, change])
            #expect(answer.code == "forbidden" && !answer.body.isEmpty)
        }
    }

    /// Each answer ends by itself: a stream that was let through would not.
    @Test func `a stream is opened by the page, and by no page elsewhere`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let signedIn = try await dashboard.signIn()
            let (cookie, stream) = (("Cookie", signedIn), ("Accept", "text/event-stream"))
            let paths = ["/v1/overview", "/v1/spaces/home/streams/lights/events", "/v1/spaces/home/attachments"]
            for path in paths {
                for elsewhere in [
                    ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", "http://127.0.0.1:1"),
                    ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
                ] {
                    let answer = try await dashboard.request("GET", path, [cookie, stream, elsewhere])
                    #expect(answer.status == 403 && answer.body.isEmpty, "\(path) \(elsewhere)")
                }
                let bound = try await dashboard.request("GET", path, [cookie, stream], host: "evil.example")
                #expect(bound.status == 421 && bound.body.isEmpty, "\(path)")
                let stranger = try await dashboard.request("GET", path, [stream])
                #expect(stranger.status == 401 && stranger.body.isEmpty, "\(path)")
            }
            // A WebSocket is not held back by the origin's rules, and is nothing here: from elsewhere refused, else a plain request.
            let webSocket = [
                cookie, ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ]
            for (origin, status) in [("http://evil.example", 403), (dashboard.origin, 200)] {
                let answer = try await dashboard.request("GET", "/v1/version", webSocket + [("Origin", origin)])
                #expect(answer.status == status && answer.headers["upgrade"] == nil, "\(origin)")
            }
            let own = try dashboard.connected()
            defer { close(own) }
            #expect(try await dashboard.follow(signedIn, until: "\"disk\"", on: own).contains("200 OK"))
        }
    }

    @Test func `every answer has the headers that keep it from being used elsewhere`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = [("Cookie", try await dashboard.signIn())]
            let link = try dashboard.path(of: try #require(dashboard.access.link(alsoAt: [])).url)
            let answers = [
                try await dashboard.request("GET", "/", cookie), try await dashboard.request("GET", "/"),
                try await dashboard.request("GET", "/program.js", cookie), try await dashboard.request("GET", link),
                try await dashboard.request("GET", "/v1/version", cookie),
                try await dashboard.request("GET", "/v1/version"),
                try await dashboard.request("GET", "/v1/why?target=unknown", cookie),
                try await dashboard.request("GET", "/", host: "evil.example"),
            ]
            for answer in answers {
                let policy = answer.headers["content-security-policy"] ?? ""
                #expect(policy.hasPrefix("default-src 'none';") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(answer.headers["x-content-type-options"] == "nosniff")
                #expect(answer.headers["referrer-policy"] == "no-referrer")
                #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
                #expect(["no-store", "no-cache"].contains(answer.headers["cache-control"]))
            }
            #expect(
                answers[0].headers["content-security-policy"]
                    == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
                    + "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
            #expect(answers[4].headers["content-security-policy"]?.contains("sandbox") == true)
        }
    }

    @Test func `the files of the page have nothing in them that the policy forbids`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = [("Cookie", try await dashboard.signIn())]
            var (wanted, seen): ([String], Set<String>) = (["/"], [])
            while let path = wanted.popLast() {
                guard seen.insert(path).inserted else { continue }
                let file = try await dashboard.request("GET", path, cookie)
                #expect(file.status == 200, "\(path)")
                wanted += file.text.matches(of: /(?:src|href)="(\/[\w.-]+)"|from '(\/[\w.-]+)'/).map { found in
                    String(found.1 ?? found.2 ?? "")
                }
                for forbidden in [
                    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
                ] {
                    #expect(!file.text.contains(forbidden), "\(path) has \(forbidden)")
                }
                #expect(!file.text.contains(/\son\w+="|style="|<script>|<style>|javascript:/), "\(path)")
                // The name of a namespace is no address that is asked.
                let addresses = file.text.matches(of: /https?:\/\/[\w.\/]+/).map { String($0.0) }
                #expect(addresses.allSatisfy { $0 == "http://www.w3.org/2000/svg" }, "\(path): \(addresses)")
            }
            #expect(seen.count == 18, "\(seen.sorted())")
        }
    }

    @Test(arguments: [
        "/../Package.swift", "/..%2f..%2fetc/passwd", "/%2e%2e/program.js", "//program.js", "/program.js/",
        "/./program.js",
        "/index.html", "/Dashboard/Page/index.html", "/program.js%00.css", "/v1/../program.js", "/v1", "/v1/",
        "/healthz",
        "/v1//overview", "/V1/overview",
    ])
    func `a path leads to the files of the page, and nowhere else`(path: String) async throws {
        try await LiveDashboard.with { dashboard async throws in
            let answer = try await dashboard.request("GET", path, [("Cookie", try await dashboard.signIn())])
            #expect(answer.status == 404 && answer.body.isEmpty)
        }
    }

    @Test func `what the page does not need is not reached`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let headers = [
                ("Cookie", try await dashboard.signIn()), ("Origin", dashboard.origin),
                (DashboardGate.changeHeader, "1"),
                ("Content-Type", "application/json"),
            ]
            for operation in [
                "POST /v1/backup", "POST /v1/dashboard", "DELETE /v1/dashboard", "POST /v1/invitations",
                "POST /v1/join",
                "POST /v1/transactions", "PUT /v1/spaces/home/collections/c/objects/o", "POST /v1/compact",
                "DELETE /v1/spaces/home/collections/c/objects/o", "GET /metrics", "GET /v1/status",
                "PUT /v1/spaces/home",
            ] {
                let parts = operation.split(separator: " ").map(String.init)
                let answer = try await dashboard.request(
                    parts[0], parts[1], headers, body: parts[0] == "GET" ? nil : "{}")
                #expect(answer.status == 404 && answer.body.isEmpty, "\(operation)")
            }
            let operations = RouteTable(agent: dashboard.live.agent).operations
            for operation in DashboardReach.operations { #expect(operations.contains(operation), "\(operation)") }
        }
    }

    @Test func `a body that is too long, or of no known length, is not read`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let headers = [
                ("Cookie", try await dashboard.signIn()), ("Origin", dashboard.origin),
                (DashboardGate.changeHeader, "1"),
            ]
            let path = "/v1/spaces/home/collections/c/objects/o/resolve"
            let long = try await dashboard.request("POST", path, headers + [("Content-Length", "2000000")])
            #expect(long.status == 413)
            let chunked = try await dashboard.request("POST", path, headers + [("Transfer-Encoding", "chunked")])
            #expect(chunked.status == 411)
            let head = try await dashboard.request("GET", "/", [("X", String(repeating: "a", count: 40_000))])
            #expect(head.status == 400)
            #expect(try await dashboard.request("GET", "/v1/version", headers).status == 200)
        }
    }
}
