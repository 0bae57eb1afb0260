/// An error as it is reported to a person or a program: what happened, and what to do next.
///
/// Neither text holds the content of people's data.
public struct ControlError: Error, Equatable, Sendable {
    /// The stable code that programs compare.
    public let code: ErrorCode
    /// The event that caused the error, as one sentence.
    public let message: String
    /// The next thing to do; empty only if nothing can be done.
    public let hint: String
    /// The first refused line of a stream of lines, counted from 1.
    public let line: Int?
    /// The number of lines before it that were written and stay written.
    public let written: Int?
    /// The version the object has now, for `version_mismatch`; nil when there is no object.
    public let version: DotText?

    /// An error with `code`; `line` and `written` only for streams of lines, `version` for conditions that failed.
    public init(
        _ code: ErrorCode, _ message: String, hint: String = "", line: Int? = nil, written: Int? = nil,
        version: DotText? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.line = line
        self.written = written
        self.version = version
    }

    /// The same error, saying which of several things it is about.
    package func concerning(_ place: String) -> ControlError {
        ControlError(
            code, "\(place): \(message)", hint: hint, line: line, written: written, version: version)
    }
}

extension ControlError: CustomStringConvertible {
    /// The message and the hint, for a person.
    public var description: String { hint.isEmpty ? message : "\(message) \(hint)" }
}

/// The JSON form of an error: `{"error":{"code","message","hint"}}`, with `line` and `written` if lines were sent, and
/// `version` if another one was expected.
public struct ErrorResponse: Codable, Sendable {
    struct Body: Codable, Sendable {
        let code: String
        let message: String
        let hint: String
        let line: Int?
        let written: Int?
        let version: DotText?
    }

    let error: Body

    /// Wraps `error`.
    public init(_ error: ControlError) {
        self.error = Body(
            code: error.code.rawValue, message: error.message, hint: error.hint, line: error.line,
            written: error.written, version: error.version)
    }

    /// The error inside.
    public var controlError: ControlError {
        ControlError(
            ErrorCode(rawValue: error.code) ?? .internalFault, error.message, hint: error.hint, line: error.line,
            written: error.written, version: error.version)
    }

    /// The JSON text; `line`, `written` and `version` appear only when they say something.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"error\":{\"code\":")
        writer.string(error.code)
        writer.raw(",\"message\":")
        writer.string(error.message)
        writer.raw(",\"hint\":")
        writer.string(error.hint)
        if let line = error.line {
            writer.raw(",\"line\":")
            writer.integer(line)
        }
        if let written = error.written {
            writer.raw(",\"written\":")
            writer.integer(written)
        }
        if let version = error.version {
            writer.raw(",\"version\":")
            writer.string(version.description)
        }
        writer.raw("}}")
        return writer.bytes
    }
}
