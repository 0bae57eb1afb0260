import ControlAPI
import HTTPTypes
package import HummingbirdCore
package import Logging
import NIOCore
package import SyncAgent

/// Finds the route for a request, runs it, and turns every error into the one form errors have.
package struct ControlResponder: Sendable {
    /// Looks at a request that a route takes, and refuses it by an error.
    typealias Gate = @Sendable (Route, ControlRequest) throws(ControlError) -> Void

    private let table: RouteTable
    private let logger: Logger
    private let gate: Gate?

    /// - Parameter dashboard: the browsers of the dashboard; nil where the agent serves none just now.
    package init(agent: Agent, logger: Logger, dashboard: @escaping @Sendable () async -> DashboardAccess? = { nil }) {
        self.init(table: RouteTable(agent: agent, dashboard: dashboard), logger: logger, gate: nil)
    }

    /// Answers only what `gate` lets pass.
    init(agent: Agent, logger: Logger, gate: @escaping Gate) {
        self.init(table: RouteTable(agent: agent), logger: logger, gate: gate)
    }

    private init(table: RouteTable, logger: Logger, gate: Gate?) {
        self.table = table
        self.logger = logger
        self.gate = gate
    }

    /// Answers a request; failures are answers with an error.
    package func respond(to request: Request, over origin: ControlRequest.Origin) async -> Response {
        await respond(to: request, upload: RequestUpload(request), over: origin)
    }

    func respond(to request: Request, upload: RequestUpload, over origin: ControlRequest.Origin) async -> Response {
        do throws(ControlError) {
            let (route, asked) = try match(request, upload, origin)
            let answer = try await route.handler(asked)
            // The route, not the path: names of objects do not belong into a log that helpers read.
            logger.debug(
                "A request was answered.",
                metadata: ["route": "\(route.method.rawValue) \(route.path)", "status": "\(answer.status.code)"])
            return answer
        } catch {
            logger.debug(
                "A request was refused.",
                metadata: ["method": "\(request.method.rawValue)", "error.code": "\(error.code.rawValue)"])
            return failure(error, request)
        }
    }

    /// Returns the answer to a request whose body is not worth sending; nil: the client should go on. The body is not read.
    func refusal(
        of request: Request, upload: RequestUpload, over origin: ControlRequest.Origin
    ) async -> Response? {
        do throws(ControlError) {
            let (route, asked) = try match(request, upload, origin)
            try await route.admission?(asked)
            return nil
        } catch {
            // The body that we do not want may come or not: what follows on this connection would be a guess.
            var response = failure(error, request)
            response.headers[.connection] = "close"
            return response
        }
    }

    private func match(
        _ request: Request, _ upload: RequestUpload, _ origin: ControlRequest.Origin
    ) throws(ControlError) -> (Route, ControlRequest) {
        // No page is served on the socket: what a browser sends for one comes from elsewhere (RFC 6454, section 7). The
        // dashboard has compared the origin with its own.
        guard origin == .page || request.headers[.origin] == nil else {
            throw ControlError(
                .forbidden, "Requests of web pages are not answered.",
                hint: "Ask from a program, without the header Origin.")
        }
        let (route, parameters) = try table.route(for: request)
        let (query, lists) = try Self.query(try Self.queryPairs(of: request), for: route)
        let asked = ControlRequest(
            request: request, upload: upload, origin: origin, parameters: parameters, query: query, queryLists: lists)
        try gate?(route, asked)
        return (route, asked)
    }

    private func failure(_ error: ControlError, _ request: Request) -> Response {
        switch error.code {
        case .internalFault, .storeFailed, .diskFull, .damaged:
            logger.warning("a request failed", metadata: ["error.code": "\(error.code.rawValue)"])
        case _: break
        }
        return .failure(error, allow: error.code == .methodNotAllowed ? table.methods(for: request) : nil)
    }

    private static func queryPairs(of request: Request) throws(ControlError) -> [(key: String, value: String)] {
        guard let text = request.uri.query, !text.isEmpty else { return [] }
        var pairs: [(key: String, value: String)] = []
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            guard let key = PercentEncoding.decodeQuery(pair[..<(equals ?? pair.endIndex)]),
                let value = PercentEncoding.decodeQuery(
                    equals.map { pair[pair.index(after: $0)...] } ?? pair.suffix(0))
            else {
                throw ControlError(
                    .invalidArgument, "The query is not percent-encoded UTF-8.",
                    hint: "Encode each key and value; %20 or + is a space, %2B a plus.")
            }
            pairs.append((key, value))
        }
        return pairs
    }

    private static func query(
        _ pairs: [(key: String, value: String)], for route: Route
    ) throws(ControlError) -> ([String: String], [String: [String]]) {
        var query: [String: String] = [:]
        var lists: [String: [String]] = [:]
        for (key, value) in pairs {
            if route.repeatedKeys.contains(key) {
                lists[key, default: []].append(value)
                continue
            }
            guard route.queryKeys.contains(key) else {
                let known = route.queryKeys + route.repeatedKeys
                throw ControlError(
                    .unknownKey, "The query key \"\(key)\" is not known here.",
                    hint: known.isEmpty ? "This path takes none." : "Known are: \(known.joined(separator: ", ")).")
            }
            guard query.updateValue(value, forKey: key) == nil else {
                throw ControlError(
                    .invalidArgument, "The query key \"\(key)\" stands twice.", hint: "Keep one of them.")
            }
        }
        return (query, lists)
    }
}

extension Response {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        json(bytes: JSONEncoding.bytes(value), status: status)
    }

    static func json(bytes: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: ContentType.json],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func failure(_ error: ControlError, allow: String? = nil) -> Response {
        var response = json(
            bytes: ErrorResponse(error).bytes, status: HTTPResponse.Status(code: error.code.httpStatus))
        if let allow { response.headers[.allow] = allow }
        return response
    }
}
