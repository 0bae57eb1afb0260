/// A string whose identity is its bytes, as reference models see elements, keys and values.
package struct PlainText: Hashable, Sendable, Comparable, ExpressibleByStringLiteral {
    package let string: String

    package init(_ string: String) { self.string = string }
    package init(stringLiteral value: String) { string = value }

    package static func == (left: PlainText, right: PlainText) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    package static func < (left: PlainText, right: PlainText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) { for byte in string.utf8 { hasher.combine(byte) } }
}

extension PlainText: CustomStringConvertible {
    /// A Swift literal, with everything beyond ASCII spelled by number: twins that look alike stay distinct on paper.
    package var description: String {
        string.unicodeScalars.reduce("\"") { text, scalar in
            switch scalar {
            case "\"", "\\": text + "\\" + String(scalar)
            case " "..."~": text + String(scalar)
            case _: text + "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        } + "\""
    }
}
