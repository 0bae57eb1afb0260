package import SyncModel

extension StateSource {
    /// Whole items of about so many bytes, one at least, or a question to ask before the next ones.
    ///
    /// - Parameter staged: the answer to what the chunk before asked; empty if it asked nothing.
    package func chunk(byteBudget: Int, staged: [Bool]) throws(StoreError) -> StateChunk {
        skip(staged)
        var chunk = StateChunk(bytes: [], question: [], isLast: false)
        while chunk.bytes.count < byteBudget {
            switch try step() {
            case .item(let item, let bytes):
                chunk.bytes += bytes
                if case .end = item { chunk.isLast = true }
            case .question(let announcements):
                chunk.question = announcements
                return chunk
            case nil:
                chunk.isLast = true
                return chunk
            }
            if chunk.isLast { break }
        }
        return chunk
    }
}
