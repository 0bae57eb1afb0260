package import ControlAPI

/// The way in which the text of a cell becomes a value.
package enum CellType: Equatable, Sendable {
    /// The text as it is.
    case text
    /// A whole number of 64 bits, else a finite double.
    case number
    /// A whole number of 64 bits: what a counter takes.
    case wholeNumber
    /// `true`, `yes`, `1`, `false`, `no` or `0`, in letters of either case.
    case boolean
    /// Any JSON value.
    case json
    /// Texts between separators, without blanks around them; empty ones are left out.
    case list(separator: String)

    /// The reason why a cell is no value of the type, and what to write instead.
    package struct Fault: Error {
        package let code: ErrorCode
        package let message: String
        package let hint: String
    }

    package static let words = "text, number, boolean, json, list(SEPARATOR)"

    /// Reads a type's word; nil if it is none.
    package init?(parsing word: Substring) {
        switch word {
        case "text": self = .text
        case "number": self = .number
        case "boolean": self = .boolean
        case "json": self = .json
        case _:
            guard word.hasPrefix("list("), word.hasSuffix(")"), word.count > "list()".count else { return nil }
            self = .list(separator: String(word.dropFirst("list(".count).dropLast()))
        }
    }

    /// Returns the type of cells for a field of which only the schema says something; nil if that does not suffice to read them.
    static func suited(to type: SchemaEntry.FieldType?) -> CellType? {
        switch type {
        case .counter?: .wholeNumber
        case .set?, .addOnlySet?, .list?, .orderedSet?, .dictionary?: nil
        case _: .text
        }
    }

    /// Writes the value of a cell that is not empty.
    package func write(_ cell: String, to writer: inout JSONWriter) throws(Fault) {
        switch self {
        case .text: writer.string(cell)
        case .number: try Self.writeNumber(cell, isWhole: false, to: &writer)
        case .wholeNumber: try Self.writeNumber(cell, isWhole: true, to: &writer)
        case .boolean:
            switch Self.trimmed(cell).lowercased() {
            case "true", "yes", "1": writer.bool(true)
            case "false", "no", "0": writer.bool(false)
            case _:
                throw Fault(
                    code: .typeMismatch, message: "\(Self.excerpt(cell)) is neither true nor false.",
                    hint: "Write true, false, yes, no, 1 or 0.")
            }
        case .json:
            do throws(JSONSyntaxError) { writer.raw(try JSONText(cell).bytes) } catch {
                let fault = ControlError(malformed: error)
                throw Fault(code: fault.code, message: "\(Self.excerpt(cell)): \(fault.message)", hint: fault.hint)
            }
        case .list(let separator):
            writer.byte(UInt8(ascii: "["))
            var isFirst = true
            for element in cell.split(separator: separator).map({ Self.trimmed(String($0)) }) where !element.isEmpty {
                if !isFirst { writer.byte(UInt8(ascii: ",")) }
                writer.string(element)
                isFirst = false
            }
            writer.byte(UInt8(ascii: "]"))
        }
    }

    private static func writeNumber(_ cell: String, isWhole: Bool, to writer: inout JSONWriter) throws(Fault) {
        let text = trimmed(cell)
        let isDigits = text.utf8.allSatisfy { "+-0123456789".utf8.contains($0) }
        if let number = Int64(text) {
            writer.integer(number)
            return
        }
        // Double reads hexadecimal, "inf" and "nan", too.
        let number = text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) } ? Double(text) : nil
        guard let number, !isWhole || isDigits else {
            throw Fault(
                code: .typeMismatch, message: "\(excerpt(cell)) is no \(isWhole ? "whole number" : "number").",
                hint: isWhole ? "Write it with digits only, like 12." : "Write it with digits and a point, like 12.5.")
        }
        guard !isDigits, number.isFinite else {
            throw Fault(
                code: .numberOutOfRange,
                message: isDigits
                    ? "A whole number is kept in 64 bits with a sign; \(excerpt(cell)) does not fit."
                    : "A number is kept as a finite double; \(excerpt(cell)) is too large.",
                hint: isWhole ? "Write a smaller one." : "Take it as text: --map COLUMN=FIELD:text")
        }
        writer.double(number)
    }

    private static func trimmed(_ text: String) -> String {
        var part = text[...]
        while let first = part.first, first == " " || first == "\t" { part.removeFirst() }
        while let last = part.last, last == " " || last == "\t" { part.removeLast() }
        return String(part)
    }

    /// The beginning of a cell, in quotes: enough to find it.
    private static func excerpt(_ cell: String) -> String {
        cell.count > 30 ? "\"\(cell.prefix(30))…\"" : "\"\(cell)\""
    }
}
