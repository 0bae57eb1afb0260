/// The names of the headers with a meaning of the control API's own.
package enum ControlHeader {
    /// The key under which a write is done once, however often it is sent (draft-ietf-httpapi-idempotency-key-header).
    package static let idempotencyKey = "Idempotency-Key"
    /// The place where the next page begins, percent-encoded as `after` takes it.
    package static let nextPage = "Lanyard-Next"
    /// `false` when nothing was ever emitted to the stream that was asked for.
    package static let streamExists = "Lanyard-Stream-Exists"
    /// The position behind which a watch began.
    package static let watchPosition = "Lanyard-Position"

    /// Throws `invalid_argument` for a key that is not 1 to 255 printable ASCII characters without spaces.
    package static func check(idempotencyKey text: String) throws(ControlError) {
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ControlError(
                .invalidArgument, "An idempotency key has 1 to 255 printable ASCII characters and no spaces.",
                hint: "Take a UUID, a fresh one for each write.")
        }
    }
}

/// The media types that the control API speaks.
package enum ContentType {
    /// One JSON value.
    package static let json = "application/json"
    /// A JSON value per line.
    package static let lines = "application/x-ndjson"
    /// Server-sent events (WHATWG HTML, section 9.2).
    package static let serverSentEvents = "text/event-stream"
}
