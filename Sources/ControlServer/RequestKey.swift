import ControlAPI
import HTTPTypes
import HummingbirdCore

/// The key under which a client may send a write again (`Idempotency-Key`), and the content of the write.
///
/// The agent remembers it with the write for a day: the same key and content again are answered with the first answer, the
/// same key with another content is `idempotency_mismatch`.
package struct RequestKey: Sendable, Equatable {
    package let text: String
    package let content: [UInt8]

    /// The keys of the writes in the present call of the agent, in their order; empty if none has a key.
    @TaskLocal package static var ofWrites: [RequestKey?] = []

    /// Returns the key of an upload's line that names none itself. It contains a space, which no client's key does.
    func line(_ number: Int, _ content: [UInt8]) -> RequestKey {
        RequestKey(text: "\(text) \(number)", content: self.content + content)
    }

    /// Calls the agent for writes that have these keys.
    static func with<Value: Sendable>(
        _ keys: [RequestKey?], _ write: () async throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        let result: Result<Value, ControlError> = await $ofWrites.withValue(keys) {
            do throws(ControlError) { return .success(try await write()) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension ControlRequest {
    /// Nil where the client gave none.
    func key() throws(ControlError) -> RequestKey? {
        guard let text = request.headers[.idempotencyKey] else { return nil }
        try ControlHeader.check(idempotencyKey: text)
        let target = "\(request.uri.path)?\(request.uri.query ?? "")"
        return RequestKey(text: text, content: Array("\(request.method.rawValue) \(target)\n".utf8))
    }

    /// Asks the agent for one write, which is done once however often the request comes under its key. The body was read.
    func once<Value: Sendable>(
        _ write: () async throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        guard let key = try key() else { return try await write() }
        let whole = RequestKey(text: key.text, content: key.content + upload.collected)
        return try await RequestKey.with([whole], write)
    }
}

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name(ControlHeader.idempotencyKey)!
}
