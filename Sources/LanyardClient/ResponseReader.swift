import ControlAPI

/// The head of an HTTP answer.
package struct ResponseHead: Sendable {
    package let status: Int
    /// Names in small letters, with their values.
    package let headers: [(name: String, value: String)]

    /// The first value of a header, whose name is compared without regard to case.
    package func first(name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }
}

/// A reader of HTTP/1.1 answers (RFC 9112) from bytes that come in pieces of any size.
///
/// The agent is the only server that it reads from. Whatever does not have the form of its answers is `Malformed`.
package struct ResponseReader: Sendable {
    package struct Malformed: Error {}

    /// The framing of a body.
    private enum Framing: Equatable {
        case rest(Int)
        /// Between chunks: a size is next.
        case chunkSize
        case chunk(Int)
        /// Behind a chunk's bytes: a line break is next.
        case chunkEnd
        /// Behind the last chunk: lines up to an empty one.
        case trailer
        case ended
    }

    /// The most bytes of a head, and of a line between chunks.
    private static let lineLimit = 65_536

    private var bytes: [UInt8] = []
    private var start = 0
    private var framing = Framing.ended

    package init() {}

    /// True once the body of the last answer was taken.
    package var hasEnded: Bool { framing == .ended }

    /// Appends bytes that came.
    package mutating func append(_ piece: [UInt8]) {
        if start == bytes.count {
            bytes = piece
        } else {
            bytes.removeFirst(start)
            bytes += piece
        }
        start = 0
    }

    // MARK: Heads

    /// Takes the head of an answer; nil if it is not here as a whole. Its body follows.
    package mutating func nextHead() throws(Malformed) -> ResponseHead? {
        guard let end = endOfHead() else {
            guard bytes.count - start <= Self.lineLimit else { throw Malformed() }
            return nil
        }
        let lines = bytes[start..<end].split(separator: 0x0D, omittingEmptySubsequences: false).map { line in
            String(decoding: line.drop { $0 == 0x0A }, as: UTF8.self)
        }
        start = end + 4
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1", words[1].count == 3, let status = Int(words[1]) else {
            throw Malformed()
        }
        var headers: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { throw Malformed() }
            var value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            while value.last == " " || value.last == "\t" { value.removeLast() }
            headers.append((line[..<colon].lowercased(), String(value)))
        }
        let head = ResponseHead(status: status, headers: headers)
        framing = try Self.framing(head)
        return head
    }

    /// The index of the empty line that ends a head.
    private func endOfHead() -> Int? {
        var index = start
        while index + 3 < bytes.count {
            if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
                return index
            }
            index += 1
        }
        return nil
    }

    private static func framing(_ head: ResponseHead) throws(Malformed) -> Framing {
        if head.status < 200 || head.status == 204 || head.status == 304 { return .ended }
        if head.first(name: "Transfer-Encoding")?.lowercased() == "chunked" { return .chunkSize }
        guard let length = head.first(name: "Content-Length").flatMap({ Int($0) }), length >= 0 else {
            throw Malformed()
        }
        return length == 0 ? .ended : .rest(length)
    }

    // MARK: Bodies

    /// Takes the next bytes of the body; nil if none are here, or the body has ended.
    package mutating func nextBody() throws(Malformed) -> [UInt8]? {
        while true {
            switch framing {
            case .ended: return nil
            case .rest(let count), .chunk(let count):
                let piece = take(count)
                if piece.isEmpty { return nil }
                let rest = count - piece.count
                if case .chunk = framing {
                    framing = rest == 0 ? .chunkEnd : .chunk(rest)
                } else {
                    framing = rest == 0 ? .ended : .rest(rest)
                }
                return piece
            case .chunkSize:
                guard let line = try nextLine() else { return nil }
                let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
                guard (1...15).contains(digits.count) else { throw Malformed() }
                var size = 0
                for digit in digits {
                    guard let value = JSONScanner.hexDigit(digit) else { throw Malformed() }
                    size = size << 4 | Int(value)
                }
                framing = size == 0 ? .trailer : .chunk(size)
            case .chunkEnd:
                guard let line = try nextLine() else { return nil }
                guard line.isEmpty else { throw Malformed() }
                framing = .chunkSize
            case .trailer:
                guard let line = try nextLine() else { return nil }
                if line.isEmpty { framing = .ended }
            }
        }
    }

    /// Takes at most `count` bytes.
    private mutating func take(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, start.addingReportingOverflow(count).overflow ? bytes.count : start + count)
        defer { start = end }
        return start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])
    }

    /// Takes a line without its line break; nil if it is not here as a whole.
    private mutating func nextLine() throws(Malformed) -> ArraySlice<UInt8>? {
        guard let end = bytes[start...].firstIndex(of: 0x0A) else {
            guard bytes.count - start <= Self.lineLimit else { throw Malformed() }
            return nil
        }
        guard end > start, bytes[end - 1] == 0x0D else { throw Malformed() }
        defer { start = end + 1 }
        return bytes[start..<end - 1]
    }
}
