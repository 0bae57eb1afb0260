import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// The bytes of an attachment as the body of an answer, a chunk at a time as the client takes them.
///
/// The first chunk is read before the answer begins, so that damage found there has a status of its own. Damage found later
/// ends the connection: fewer bytes arrive than were announced, so no client takes them for the whole.
struct AttachmentAnswer: Sendable {
    private let reading: ReadAttachment

    init(_ reading: ReadAttachment) { self.reading = reading }

    func response() async throws(ControlError) -> Response {
        let first = try await reading.next()
        let (reading, record) = (reading, reading.entry.record)
        return Response(
            status: .ok,
            headers: [
                .contentType: record.mediaType, .contentDisposition: Self.disposition(reading.entry.fileName),
                // What people attach must not run as a page of ours.
                .xContentTypeOptions: "nosniff", .contentLength: String(record.size), .eTag: "\"\(record.hash)\"",
            ],
            body: ResponseBody(contentLength: Int(clamping: record.size)) { writer in
                var next = first
                while let bytes = next {
                    try await writer.write(bytes)
                    next = try await reading.next()
                }
                try await writer.finish(nil)
            })
    }

    /// RFC 6266: a name in plain letters for the old, and the right one percent-encoded (RFC 8187).
    static func disposition(_ name: String) -> String {
        let plain = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F && !"\"\\%".unicodeScalars.contains($0)
                        ? $0 : "_"
                }))
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(PercentEncoding.encode(name))"
    }
}
