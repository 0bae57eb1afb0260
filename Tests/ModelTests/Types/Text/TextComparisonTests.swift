import SyncModel
import Testing

/// How one text became another: by scalars and by lines.
@Suite struct TextComparisonTests {
    private typealias Lines = TextComparison.Lines

    @Test func `the edits lead from one text to the other, and so do the lines`() throws {
        for seed in UInt64(1)...2_000 {
            var generator = SeededGenerator(seed: seed)
            let old = text(&generator)
            let new = generator.chance(20) ? text(&generator) : changed(old, &generator)
            let comparison = TextComparison(old, new)
            #expect(try edited(old, comparison.edits) == new, "seed \(seed)")
            #expect(
                comparison.edits.isEmpty == (old == new) && comparison.lines.isEmpty == (old == new), "seed \(seed)")
            expect(comparison.lines, from: old, to: new, "seed \(seed)")
        }
    }

    private static let words = ["a", "b", "\n", "\n", "word ", "é", "e\u{301}", "\r\n", "😀"]

    private func text(_ generator: inout SeededGenerator) -> String {
        let count = Int.random(in: 0...20, using: &generator)
        return (0..<count).map { _ in Self.words[Int.random(in: 0..<9, using: &generator)] }.joined()
    }

    private func changed(_ text: String, _ generator: inout SeededGenerator) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let start = Int.random(in: 0...scalars.count, using: &generator)
            let end = min(scalars.count, start + Int.random(in: 0...3, using: &generator))
            scalars.replaceSubrange(
                start..<end, with: Self.words[Int.random(in: 0..<9, using: &generator)].unicodeScalars)
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// A break at the very end begins no line; where it is all that differs, it is told as an empty line behind the last.
    private func expect(_ changes: [Lines], from old: String, to new: String, _ comment: Comment) {
        let (oldLines, newLines) = (lines(old), lines(new))
        var built = oldLines
        var shift = 0
        for change in changes {
            #expect(change.newLine == change.line + shift, comment)
            let isEnd = change.line == oldLines.count + 1 && change.newLine == newLines.count + 1
            if isEnd, same(change.deleted + change.inserted, [""]) { continue }
            let range = change.line - 1 + shift..<change.line - 1 + shift + change.deleted.count
            guard range.upperBound <= built.count else {
                Issue.record("line \(change.line) of \(built.count) lines: \(comment)")
                return
            }
            #expect(same(Array(built[range]), change.deleted), comment)
            built.replaceSubrange(range, with: change.inserted)
            shift += change.inserted.count - change.deleted.count
        }
        #expect(same(built, newLines), comment)
    }

    private func lines(_ text: String) -> [String] {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { String(Substring($0)) }.dropLast(lines.last?.isEmpty == true ? 1 : 0)
    }

    private func same(_ one: [String], _ other: [String]) -> Bool {
        one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
    }

    @Test func `lines are whole, numbered in both texts, and none that stays`() {
        func lines(_ old: String, _ new: String) -> [Lines] { TextComparison(old, new).lines }
        #expect(lines("a\nb\nc", "a\nX\nc") == [Lines(line: 2, newLine: 2, deleted: ["b"], inserted: ["X"])])
        #expect(lines("a\nb\nc", "a\nc") == [Lines(line: 2, newLine: 2, deleted: ["b"], inserted: [])])
        #expect(lines("a\nc", "a\nb\nc") == [Lines(line: 2, newLine: 2, deleted: [], inserted: ["b"])])
        #expect(lines("a", "a\nb") == [Lines(line: 2, newLine: 2, deleted: [], inserted: ["b"])])
        #expect(lines("", "a\nb\n") == [Lines(line: 1, newLine: 1, deleted: [], inserted: ["a", "b"])])
        #expect(lines("a", "") == [Lines(line: 1, newLine: 1, deleted: ["a"], inserted: [])])
        #expect(lines("a", "a\n") == [Lines(line: 2, newLine: 2, deleted: [], inserted: [""])])
        #expect(
            lines("one two three\nfour\nfive six\n", "one 2 three\nfour\nsix\nseven\n") == [
                Lines(line: 1, newLine: 1, deleted: ["one two three"], inserted: ["one 2 three"]),
                Lines(line: 3, newLine: 3, deleted: ["five six"], inserted: ["six", "seven"]),
            ])
    }
}
