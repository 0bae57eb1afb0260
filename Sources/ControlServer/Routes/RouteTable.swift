import ControlAPI
import HTTPTypes
import HummingbirdCore
package import SyncAgent

/// An operation of the control API.
struct Route: Sendable {
    typealias Handler = @Sendable (ControlRequest) async throws(ControlError) -> Response
    typealias Admission = @Sendable (ControlRequest) async throws(ControlError) -> Void

    let method: HTTPRequest.Method
    /// The path as in the OpenAPI document: `/v1/spaces/{space}/streams`.
    let path: String
    /// The query keys it takes; any other is refused, so that a misspelt one does not pass unseen.
    let queryKeys: [String]
    /// The query keys that may be repeated.
    let repeatedKeys: [String]
    let handler: Handler
    /// Looks at a request before its body is sent, where the client waits to be told to (`Expect`, RFC 9110, section 10.1.1).
    let admission: Admission?
    private let segments: [Substring]

    init(
        _ method: HTTPRequest.Method, _ path: String, query: [String] = [], repeated: [String] = [],
        handler: @escaping Handler, admission: Admission? = nil
    ) {
        self.method = method
        self.path = path
        queryKeys = query
        repeatedKeys = repeated
        self.handler = handler
        self.admission = admission
        segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    /// The raw values of the `{…}` segments, or nil when the path is another.
    func match(_ candidate: [Substring]) -> [(key: String, value: Substring)]? {
        guard candidate.count == segments.count else { return nil }
        var values: [(key: String, value: Substring)] = []
        for (segment, part) in zip(segments, candidate) {
            if segment.first == "{" {
                values.append((String(segment.dropFirst().dropLast()), part))
            } else if segment != part {
                return nil
            }
        }
        return values
    }
}

/// All operations, and which of them a request asks for.
package struct RouteTable: Sendable {
    let routes: [Route]

    /// - Parameter dashboard: the browsers of the dashboard; nil where the agent serves none just now.
    package init(agent: Agent, dashboard: @escaping @Sendable () async -> DashboardAccess? = { nil }) {
        routes =
            HealthRoutes(agent: agent).routes + NodeRoutes(agent: agent).routes + PeerRoutes(agent: agent).routes
            + MembershipRoutes(agent: agent).routes + RecoveryRoutes(agent: agent).routes
            + ReviewRoutes(agent: agent).routes
            + EventRoutes(agent: agent).routes
            + ConsumerRoutes(agent: agent).routes + ObjectRoutes(agent: agent).routes
            + ObjectListRoutes(agent: agent).routes + LiveRoutes(agent: agent).routes
            + TextRoutes(agent: agent).routes + PairingRoutes(agent: agent).routes
            + ConflictRoutes(agent: agent).routes
            + SchemaRoutes(agent: agent).routes + AttachmentRoutes(agent: agent).routes
            + SpaceRoutes(agent: agent).routes + BackupRoutes(agent: agent).routes
            + SnapshotRoutes(agent: agent).routes + PresenceRoutes(agent: agent).routes
            + OverviewRoutes(agent: agent).routes + DashboardRoutes(agent: agent, access: dashboard).routes
    }

    /// `METHOD path` of each, to be compared with the OpenAPI document.
    package var operations: [String] { routes.map { "\($0.method.rawValue) \($0.path)" } }

    func route(for request: Request) throws(ControlError) -> (Route, [String: String]) {
        let candidate = Self.segments(of: request)
        var pathExists = false
        for route in routes {
            guard let values = route.match(candidate) else { continue }
            pathExists = true
            if route.method == request.method { return (route, try Self.decoded(values)) }
        }
        guard pathExists else {
            throw ControlError(
                .notFound, "There is nothing at this path.", hint: "GET /v1/openapi.json lists all paths.")
        }
        throw ControlError(
            .methodNotAllowed, "This path does not take that method.", hint: "GET /v1/openapi.json lists all paths.")
    }

    /// The methods the request's path takes, as the `Allow` header lists them.
    func methods(for request: Request) -> String {
        let candidate = Self.segments(of: request)
        return routes.filter { $0.match(candidate) != nil }.map(\.method.rawValue).sorted().joined(separator: ", ")
    }

    private static func segments(of request: Request) -> [Substring] {
        request.uri.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func decoded(
        _ values: [(key: String, value: Substring)]
    ) throws(ControlError) -> [String: String] {
        var parameters: [String: String] = [:]
        for (key, value) in values {
            guard let text = PercentEncoding.decode(value.utf8) else {
                throw ControlError(
                    .invalidName, "A part of the path is not percent-encoded UTF-8.",
                    hint: "Encode names as RFC 3986 says: a space is %20.")
            }
            parameters[key] = text
        }
        return parameters
    }
}
