import LanyardClient
import Testing

/// HTTP answers in pieces of any size, and what is none.
@Suite struct ResponseReaderTests {
    private struct Read: Equatable {
        var statuses: [Int] = []
        var bodies: [String] = []
    }

    /// Reads all answers of `text`, which comes in pieces of `size` bytes.
    private func read(_ text: String, pieces size: Int) throws -> Read {
        var (reader, read, rest) = (ResponseReader(), Read(), Array(text.utf8)[...])
        var body: [UInt8] = []
        while true {
            if reader.hasEnded, let head = try reader.nextHead() {
                read.statuses.append(head.status)
                body = []
                if reader.hasEnded { read.bodies.append("") }
                continue
            }
            if !reader.hasEnded {
                while let piece = try reader.nextBody() { body += piece }
                if reader.hasEnded {
                    read.bodies.append(String(decoding: body, as: UTF8.self))
                    continue
                }
            }
            if rest.isEmpty { return read }
            reader.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
    }

    @Test func `answers are read whatever pieces they come in`() throws {
        let text =
            "HTTP/1.1 100 Continue\r\n\r\n" + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Empty:\r\n\r\nhello"
            + "HTTP/1.1 204 No Content\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nHello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n"
            + "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
        let expected = Read(statuses: [100, 200, 204, 200, 404], bodies: ["", "hello", "", "Hello!", ""])
        for size in 1...80 { #expect(try read(text, pieces: size) == expected, "pieces of \(size)") }
        #expect(try read(text, pieces: text.utf8.count) == expected)
    }

    @Test func `headers are found whatever their case`() throws {
        var reader = ResponseReader()
        reader.append(Array("HTTP/1.1 200 OK\r\nLanyard-Next:  a:b \r\nContent-Length: 0\r\n\r\n".utf8))
        let head = try #require(try reader.nextHead())
        #expect(head.first(name: "lanyard-next") == "a:b")
        #expect(head.first(name: "Other") == nil)
    }

    @Test(arguments: [
        "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\na", "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        String(repeating: "a", count: 70_000),
    ])
    func `what is no answer of the agent is refused`(text: String) {
        for size in [1, 7, 100_000] {
            #expect(throws: ResponseReader.Malformed.self) { _ = try read(text, pieces: size) }
        }
    }

    @Test func `no bytes trap the reader`() {
        var random = SystemRandomNumberGenerator()
        let parts = [
            "HTTP/1.1 200 OK", "\r\n", "\r", "\n", "Content-Length: 3", "Transfer-Encoding: chunked", "0", "3", ":",
            "ab",
        ]
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 0...20, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }
            for size in [1, 3, 1_000] { _ = try? read(text.joined(), pieces: size) }
        }
    }
}
