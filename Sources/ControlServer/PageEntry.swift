import ControlAPI
import HTTPTypes
import HummingbirdCore

/// An entry of a list that is read page by page.
protocol PageEntry: Encodable, Sendable {
    func write(to writer: inout JSONWriter)
}

extension PageEntry {
    func write(to writer: inout JSONWriter) { writer.raw(JSONEncoding.bytes(self)) }
}

extension ObjectEntry: PageEntry {}
extension DeletedEntry: PageEntry {}
extension HistoryEntry: PageEntry {}
extension BlameEntry: PageEntry {}
extension TrustEntry: PageEntry {}

/// The numbers of entries or events on a page.
enum PageSize {
    /// The entries of a page whose reader gave no limit.
    static let standard = 1_000
    /// The entries read at once for a stream: so many that the cost of a page does not count, and few enough for memory.
    static let bulk = 2_000
}

/// A list being read: a page as one JSON array, or all of it as lines, a page at a time as the reader takes them.
struct PageReading<Entry: PageEntry>: Sendable {
    let request: ControlRequest
    /// The page that begins behind a cursor, with at most so many entries.
    let page: @Sendable (String?, Int) async throws(ControlError) -> EntryPage<Entry>

    func response() async throws(ControlError) -> Response {
        let after = try request.cursor()
        let limit = try request.optionalInteger("limit", in: ControlLimits.pageEntries)
        switch request.format {
        case .page: return Self.array(try await page(after, limit ?? PageSize.standard))
        case .lines: return try await stream(.lines, after, limit)
        case .serverSentEvents: return try await stream(.serverSentEvents, after, limit)
        }
    }

    private static func array(_ page: EntryPage<Entry>) -> Response {
        var writer = JSONWriter(capacity: page.entries.count * 256 + 2)
        writer.byte(UInt8(ascii: "["))
        for (index, entry) in page.entries.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            entry.write(to: &writer)
        }
        writer.byte(UInt8(ascii: "]"))
        var response = Response.json(bytes: writer.bytes)
        if let next = page.next { response.headers[.nextPage] = PercentEncoding.encode(next) }
        return response
    }

    /// Answers with a stream. The first page is read before the answer begins, so that an error there has a status of its own.
    private func stream(
        _ format: StreamFormat, _ after: String?, _ limit: Int?
    ) async throws(ControlError) -> Response {
        let limit = limit ?? .max
        let first = try await page(after, min(limit, PageSize.bulk))
        let reading = self
        return request.stream(format) { try await reading.write(from: first, limit, to: &$0) }
    }

    private func write(from first: EntryPage<Entry>, _ limit: Int, to writer: inout StreamWriter) async throws {
        var (current, remaining) = (first, limit)
        while !current.entries.isEmpty {
            try await writer.write(current.entries)
            remaining -= current.entries.count
            guard remaining > 0, let next = current.next, !Task.isCancelled else { return }
            current = try await page(next, min(remaining, PageSize.bulk))
        }
    }
}

extension HTTPField.Name {
    static let nextPage = HTTPField.Name(ControlHeader.nextPage)!
    static let watchPosition = HTTPField.Name(ControlHeader.watchPosition)!
}
