package import ReferenceModels
package import SyncModel

/// What registers and sets hold in a history; one plain text each.
package protocol LawElement: Hashable & Comparable & Codable & Sendable & ByteCoded {
    init(_ plain: PlainText)
    var plain: PlainText { get }
}

extension ExactString: LawElement {
    package init(_ plain: PlainText) { self.init(plain.string) }
    package var plain: PlainText { PlainText(string) }
}

/// Of every type of JSON one; all other words are strings.
extension JSONValue: LawElement {
    package init(_ plain: PlainText) {
        switch plain.string {
        case "7": self = .integer(7)
        case "": self = .null
        case "b": self = .bool(true)
        case "c": self = .double(0.5)
        case "d": self = .array([.integer(7), .null])
        case let other: self = .string(ExactString(other))
        }
    }

    package var plain: PlainText {
        switch self {
        case .integer(let number): PlainText(String(number))
        case .null: ""
        case .bool(let flag): flag ? "b" : "not b"
        case .double(0.5): "c"
        case .array([.integer(7), .null]): "d"
        case .string(let string): PlainText(string.string)
        case .double, .array, .object: PlainText(text)
        }
    }
}

extension Sequence where Element: LawElement {
    /// In the order in which they come.
    var plain: [PlainText] { map { $0.plain } }
}
