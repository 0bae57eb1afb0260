package import ControlAPI

/// An object of a file, and the line in which it begins, from 1.
package struct NumberedObject: Sendable {
    package let line: Int
    package let put: ObjectPut
}

/// A reader that makes objects of a file's bytes, which come in pieces that may end anywhere.
///
/// An error names its line. The objects before it have been appended, and the reader is of no use afterwards.
package protocol RowReader: Sendable {
    /// Appends the objects that `piece` completes.
    mutating func append(_ piece: [UInt8], to objects: inout [NumberedObject]) throws(ControlError)

    /// Ends the file: its last line need not end in a line break.
    mutating func finish(to objects: inout [NumberedObject]) throws(ControlError)
}

/// The bounds of rows.
package enum RowLimits {
    /// The bytes of a row: those of an object's fields, and room for the names around them, as for the lines of an upload.
    package static let rowBytes = ControlLimits.bodyBytes
}

extension ControlError {
    /// The same error about a line, and maybe one of its columns.
    func inLine(_ line: Int, column: String? = nil) -> ControlError {
        let place = column.map { "Line \(line), column \"\(shown($0))\"" } ?? "Line \(line)"
        return ControlError(code, "\(place): \(message)", hint: hint, line: line, written: written, version: version)
    }
}
