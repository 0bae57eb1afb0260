import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// A request whose path was matched: decoded names, checked query, body not yet read.
package struct ControlRequest: Sendable {
    /// The origin of the request. Only a connection can tell that its client went away.
    package enum Origin: Sendable {
        /// A client that runs as the agent's user, or as root.
        case owner
        /// A client that the socket's group admits.
        case group
        /// A browser that is signed in to the dashboard (`DashboardGate`).
        case page
        case memory
    }

    let request: Request
    let upload: RequestUpload
    let origin: Origin
    let parameters: [String: String]
    let query: [String: String]
    /// The values of keys that may be repeated.
    let queryLists: [String: [String]]

    /// A name in the path, checked against the rule for names.
    func name(_ kind: NameKind) throws(ControlError) -> String {
        guard let name = parameters[kind.rawValue] else { preconditionFailure("the path has no {\(kind.rawValue)}") }
        try NameRule.check(name, is: kind)
        return name
    }

    /// A whole number in the query.
    func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int) throws(ControlError) -> Int {
        try optionalInteger(key, in: range) ?? fallback
    }

    func optionalInteger(_ key: String, in range: ClosedRange<Int>) throws(ControlError) -> Int? {
        guard let text = query[key] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw ControlError(
                .invalidArgument, "\"\(key)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).",
                hint: "GET /v1/openapi.json describes every request.")
        }
        return value
    }

    /// A name in the query, checked against the rule for names.
    func queryName(_ kind: NameKind) throws(ControlError) -> String? {
        guard let name = query[kind.rawValue] else { return nil }
        try NameRule.check(name, is: kind)
        return name
    }

    /// The object that the path names.
    func objectName() throws(ControlError) -> ObjectName {
        try ObjectName(collection: parameters["collection"] ?? "", id: parameters["id"] ?? "")
    }

    /// Returns the condition under which a write is to be done.
    func condition() throws(ControlError) -> WriteCondition {
        try WriteCondition(ifVersion: try version("ifVersion"), ifAbsent: try flag("ifAbsent"))
    }

    func version(_ key: String) throws(ControlError) -> DotText? {
        guard let text = query[key] else { return nil }
        return try DotText(parsing: text)
    }

    /// Returns the place where the page begins, from the page before; nil for the first page.
    func cursor() throws(ControlError) -> String? {
        guard let text = query["after"] else { return nil }
        guard ControlLimits.cursorBytes.contains(text.utf8.count) else { throw ControlError.badCursor }
        return text
    }

    func flag(_ key: String) throws(ControlError) -> Bool {
        switch query[key] {
        case nil, "false": return false
        case "true": return true
        case _?:
            throw ControlError(
                .invalidArgument, "\"\(key)\" must be true or false.",
                hint: "GET /v1/openapi.json describes every request.")
        }
    }

    /// The stream format that the client reads best.
    var format: StreamFormat {
        let accept = request.headers[.accept] ?? ""
        if accept.contains(ContentType.serverSentEvents) { return .serverSentEvents }
        if accept.contains(ContentType.lines) { return .lines }
        return .page
    }

    /// Returns true if the body is lines of JSON; throws `unsupported_media_type` if it is neither that nor JSON.
    func hasLines() throws(ControlError) -> Bool {
        let type = request.headers[.contentType]?.split(separator: ";").first.map(String.init) ?? ContentType.json
        switch type.lowercased() {
        case ContentType.json: return false
        case ContentType.lines: return true
        case _:
            throw ControlError(
                .unsupportedMediaType, "The body's type is not one the agent reads.",
                hint: "Send it as application/json; events and objects also as application/x-ndjson, one per line.")
        }
    }

    /// The body as `type`; keys that are not declared are refused.
    func body<T: Decodable>(_ type: T.Type) async throws(ControlError) -> T {
        try JSONDecoding.value(type, from: await jsonBody(), unknownKeys: .refuse)
    }

    /// The body as one JSON value.
    func bodyText() async throws(ControlError) -> JSONText {
        let bytes = try await jsonBody()
        do throws(JSONSyntaxError) { return try JSONText(bytes) } catch { throw ControlError(malformed: error) }
    }

    /// The body as it came, declared to be JSON.
    func jsonBody() async throws(ControlError) -> [UInt8] {
        guard try !hasLines() else {
            throw ControlError(
                .unsupportedMediaType, "Only events and objects can be sent as lines.",
                hint: "Send the body as application/json.")
        }
        return try await collectedBody()
    }

    private func collectedBody() async throws(ControlError) -> [UInt8] {
        do {
            return try await upload.collectAll(upTo: ControlLimits.bodyBytes)
        } catch is NIOTooManyBytesError {
            throw ControlError(
                .bodyTooLarge, "The body is larger than \(ControlLimits.bodyBytes) bytes.",
                hint: "A payload or value holds at most 1 MiB: attach larger things as files instead.")
        } catch {
            throw ControlError(.connectionLost, "The connection ended before the whole request was read.")
        }
    }
}

/// The form in which a sequence of values is written.
enum StreamFormat {
    /// A JSON document.
    case page
    /// A JSON value per line (`application/x-ndjson`).
    case lines
    /// `text/event-stream` (WHATWG HTML, section 9.2).
    case serverSentEvents
}
