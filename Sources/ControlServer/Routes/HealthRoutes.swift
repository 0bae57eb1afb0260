import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import SyncAgent

/// The routes for supervisors, monitors and programmers.
struct HealthRoutes: Sendable {
    let agent: Agent
    let metrics: MetricsReader

    init(agent: Agent) {
        self.agent = agent
        metrics = MetricsReader(agent: agent)
    }

    var routes: [Route] {
        [
            Route(.get, "/healthz") { _ in .json(Health()) },
            Route(.get, "/readyz") { [agent] _ in
                let readiness = await agent.readiness()
                return .json(readiness, status: readiness.ready ? .ok : .serviceUnavailable)
            },
            Route(.get, "/metrics") { [metrics] request throws(ControlError) in
                let format = MetricsText.Format(accept: request.request.headers[.accept])
                return .metrics(try await metrics.read().text(format), as: format)
            },
            Route(.get, "/v1/openapi.json") { _ in .json(bytes: OpenAPIDocument.bytes) },
            Route(.get, "/v1/version") { _ in .json(VersionResponse()) },
            Route(.get, "/v1/configuration") { [agent] _ in
                .json(ConfigurationResponse(toml: agent.configuration.toml))
            },
            Route(.post, "/v1/configuration/reload") { [agent] _ throws(ControlError) in
                .json(try await agent.reloadConfiguration())
            },
            Route(.get, "/v1/doctor", query: ["deep"]) { [agent] request throws(ControlError) in
                let deep = try request.flag("deep")
                guard deep else { return .json(try await agent.doctorChecks(deep: false) { _ in }) }
                return try await request.progressing { progress throws(ControlError) in
                    try await agent.doctorChecks(deep: deep, progress: progress)
                }
            },
            Route(.put, "/v1/log-level") { [agent] request throws(ControlError) in
                .json(try await agent.setLogLevel(try await request.body(LogLevelRequest.self)))
            },
            Route(.get, "/v1/logs", query: ["limit"]) { [agent] request throws(ControlError) in
                let limit = try request.integer("limit", in: 1...10_000, default: 200)
                return .json(LogLines(lines: await agent.recentLogLines(limit: limit)))
            },
        ]
    }
}

extension Response {
    static func metrics(_ text: String, as format: MetricsText.Format) -> Response {
        Response(
            status: .ok, headers: [.contentType: format.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
