import ControlAPI

/// Puts the chunks of an answer together to whole lines. An answer that fails after it began ends in an error's line.
struct LineBuffer {
    private static let errorPrefix = Array("{\"error\":".utf8)
    private var rest: [UInt8] = []

    /// Returns the bytes of all lines that `chunk` completes, with their line breaks, and the offset of the last of them; nil
    /// when none is complete. Throws the error when the last line is one; the lines before it are lost to the caller and, since
    /// they were not acknowledged, come again.
    mutating func appendBlock(_ chunk: [UInt8]) throws(ControlError) -> (block: [UInt8], lastLine: Int)? {
        rest += chunk
        guard let end = rest.lastIndex(of: 0x0A) else { return nil }
        let block = end + 1 == rest.count ? rest : Array(rest[...end])
        rest.removeFirst(end + 1)
        let lastLine = block[..<end].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        if block[lastLine...].starts(with: Self.errorPrefix) {
            let text = Array(block[lastLine..<end])
            throw try JSONDecoding.value(ErrorResponse.self, from: text, unknownKeys: .ignore).controlError
        }
        return (block, lastLine)
    }

    /// The lines that `chunk` completes, one by one and without line breaks.
    mutating func append(_ chunk: [UInt8]) throws(ControlError) -> [[UInt8]] {
        guard let (block, _) = try appendBlock(chunk) else { return [] }
        return block.split(separator: 0x0A).map(Array.init)
    }
}
