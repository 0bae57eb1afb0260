import Testing

@Suite struct SizeTests {
    private static let limitLines = 500
    /// Longer files, with the lines they have: they may only shrink, and the number here with them.
    private static let exceptions: [String: Int] = [:]

    @Test func `no file grows beyond its limit, and the exceptions only shrink`() throws {
        for file in try Repository().swiftFiles("Sources", "Tests") {
            let count = file.lines.count
            guard let listed = Self.exceptions[file.path] else {
                #expect(count <= Self.limitLines, "\(file.path) has \(count) lines: split it")
                continue
            }
            #expect(count > Self.limitLines, "\(file.path) is short enough now: take it off the list")
            #expect(count == listed, "\(file.path) has \(count) lines, not \(listed): shorten it, or lower the number")
        }
    }

    @Test func `every exception names a file`() throws {
        let repository = try Repository()
        for path in Self.exceptions.keys.sorted() { #expect(repository.exists(path), "\(path) is gone") }
    }
}
