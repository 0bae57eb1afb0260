/// Sentences and rows on a terminal: a line that is too long is broken at blanks, and goes on below the text of its row, not
/// below the title.
///
/// Words are never cut, so paths, addresses and tickets stay whole; `lanyard` and the word after it stay together.
enum Prose {
    private struct Word {
        /// Blanks before it.
        var gap: Int
        var text: String
        /// The width in characters that a terminal shows.
        var width: Int
        /// The next word stays with it.
        var isOpen = false
    }

    /// - Parameter width: characters per line; nil for no limit.
    static func wrapped(_ text: String, width: Int? = TerminalWidth.current) -> String {
        guard let width else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0), width) }
            .joined(separator: "\n")
    }

    private static func line(_ line: String, _ width: Int) -> String {
        var words = words(line)
        guard words.reduce(0, { $0 + $1.gap + $1.width }) > width else { return line }
        words[0].gap = min(words[0].gap, width / 2)
        let indent = indent(words, width)
        var (wrapped, column) = ("", 0)
        for (index, word) in words.enumerated() {
            if index > 0, column + word.gap + word.width > width {
                wrapped += "\n" + String(repeating: " ", count: indent) + word.text
                column = indent + word.width
            } else {
                wrapped += String(repeating: " ", count: word.gap) + word.text
                column += word.gap + word.width
            }
        }
        return wrapped
    }

    /// Returns the column at which the text of a row begins: behind the last gap of two blanks or more in the left half.
    private static func indent(_ words: [Word], _ width: Int) -> Int {
        var (column, indent) = (0, 0)
        for word in words {
            column += word.gap
            if word.gap > 1, column <= width / 2 { indent = column }
            column += word.width
        }
        return indent
    }

    private static func words(_ line: String) -> [Word] {
        var words: [Word] = []
        var (word, gap) = (Word(gap: 0, text: "", width: 0), 0)
        var (isEscape, visible) = (false, "")
        func end() {
            guard !word.text.isEmpty else { return }
            word.isOpen = visible.hasSuffix("lanyard")
            if let last = words.last, last.isOpen, word.gap == 1 {
                words[words.count - 1].text += " " + word.text
                words[words.count - 1].width += 1 + word.width
                words[words.count - 1].isOpen = false
            } else {
                words.append(word)
            }
            (word, visible) = (Word(gap: 0, text: "", width: 0), "")
        }
        for character in line {
            if isEscape || character == "\u{1B}" {
                // A colour: ESC [ digits m.
                isEscape = character != "m"
                if word.text.isEmpty { (word.gap, gap) = (gap, 0) }
                word.text.append(character)
            } else if character == " " {
                end()
                gap += 1
            } else {
                if word.text.isEmpty { (word.gap, gap) = (gap, 0) }
                word.text.append(character)
                visible.append(character)
                word.width += 1
            }
        }
        end()
        return words
    }
}
