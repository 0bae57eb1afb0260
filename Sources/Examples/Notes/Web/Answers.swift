import HTTPTypes
import HummingbirdCore
import Lanyard
import NIOCore

extension Response {
    /// The headers of every answer. The page runs nothing and shows nothing that this program does not serve.
    private static func headers(_ type: String, _ caching: String, _ policy: String) -> HTTPFields {
        [
            .contentType: type, .cacheControl: caching, .contentSecurityPolicy: policy,
            .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer",
            .crossOriginResourcePolicy: "same-origin", .crossOriginOpenerPolicy: "same-origin",
        ]
    }

    private static let pagePolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    private static let nothingPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

    /// A file of the page.
    static func file(_ bytes: [UInt8], _ type: String) -> Response {
        Response(
            status: .ok, headers: headers(type + "; charset=utf-8", "no-cache", pagePolicy),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func json(_ bytes: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: headers("application/json", "no-store", nothingPolicy),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static var done: Response { json(Array("{}".utf8)) }

    static func failure(_ code: ErrorCode, _ message: String, hint: String = "") -> Response {
        json(
            JSON.bytes(["code": code.rawValue, "message": message, "hint": hint]),
            status: HTTPResponse.Status(code: code.httpStatus))
    }

    static func failure(_ error: any Error) -> Response {
        switch error {
        case let error as ControlError: failure(error.code, error.message, hint: error.hint)
        case is DecodingError: failure(.invalidArgument, "The request does not have the form that is wanted here.")
        case _: failure(.internalFault, "The request failed.")
        }
    }

    /// A stream of events for one page, until its connection ends.
    static func events(
        of page: Page, for request: Request, onEnd: @escaping @Sendable () async -> Void
    ) -> Response {
        let body = request.body
        return Response(
            status: .ok, headers: headers("text/event-stream", "no-store", nothingPolicy),
            body: ResponseBody { writer in
                // Safe: the one task that sends events uses it.
                nonisolated(unsafe) var sending = writer
                do {
                    try await body.consumeWithCancellationOnInboundClose { _ in
                        for await bytes in page.events { try await sending.write(ByteBuffer(bytes: bytes)) }
                    }
                } catch {
                    // The browser went away.
                }
                await onEnd()
                try await writer.finish(nil)
            })
    }

    /// The bytes of a picture, as they are read from the agent.
    static func picture(_ entry: AttachmentEntry, _ kind: PictureKind, _ home: Lanyard) -> Response {
        let size = Int(clamping: entry.record.size)
        return Response(
            // What is attached never changes.
            status: .ok, headers: headers(kind.mediaType, "private, max-age=31536000, immutable", nothingPolicy),
            body: ResponseBody(contentLength: size) { writer in
                for try await chunk in home.bytes(of: entry) { try await writer.write(ByteBuffer(bytes: chunk)) }
                try await writer.finish(nil)
            })
    }
}
