/// A reader of tables in text (RFC 4180), fed with bytes in pieces that may end anywhere.
///
/// Beyond the RFC a line may end in LF alone, the text may begin with a byte order mark, and an empty line is no row. Cells are
/// bytes as they stand there, without their quotes; whether they are UTF-8 is not looked at.
///
/// Bounds: one row is held, of at most `rowBytes`; each cell counts one byte more than it has.
package struct CSVReader: Sendable {
    package struct Row: Sendable {
        /// The line in which it begins, from 1.
        package fileprivate(set) var line: Int
        fileprivate var bytes: [UInt8] = []
        /// Where each cell ends in `bytes`.
        fileprivate var ends: [Int] = []

        /// The number of its cells.
        package var count: Int { ends.count }

        /// The cell at a place, from 0.
        package subscript(place: Int) -> ArraySlice<UInt8> { bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]] }
    }

    /// The place where the text is no table, and why.
    package struct Fault: Error, Equatable {
        package enum Reason: Sendable {
            /// A quote stands inside of a cell that does not begin with one.
            case strayQuote
            /// Something stands between the quote that ends a cell and the delimiter.
            case textAfterQuote
            /// A carriage return outside of quotes that no line feed follows.
            case loneCarriageReturn
            /// The text ends inside of a cell in quotes; `line` is the one where they are opened.
            case openQuote
            /// The row has more than `rowBytes`; `line` is the one where it begins.
            case tooLong
        }

        package let reason: Reason
        package let line: Int
        /// The place of the cell in its row, from 0.
        package let cell: Int

        package init(reason: Reason, line: Int, cell: Int) {
            self.reason = reason
            self.line = line
            self.cell = cell
        }
    }

    private enum State {
        case cellStart
        case unquoted
        case quoted
        /// Behind a quote inside of quotes: the end of the cell, or the first of two that stand for one.
        case afterQuote
        case afterCarriageReturn
    }

    private static let quote = UInt8(ascii: "\"")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let delimiter: UInt8
    private let rowBytes: Int
    private var state = State.cellStart
    private var row = Row(line: 1)
    private var line = 1
    private var quoteLine = 1
    private var isQuoted = false
    private var isFirstRow = true

    /// - Parameter delimiter: an ASCII character that is no quote and no line break.
    package init(delimiter: UInt8, rowBytes: Int) {
        precondition(delimiter < 0x80 && ![Self.quote, 0x0A, 0x0D].contains(delimiter), "\(delimiter) ends no cell")
        self.delimiter = delimiter
        self.rowBytes = rowBytes
    }

    /// Appends the rows that `piece` completes. Those before a fault are appended; after one, the reader is of no use.
    package mutating func append(_ piece: [UInt8], to rows: inout [Row]) throws(Fault) {
        for byte in piece {
            switch state {
            case .cellStart, .unquoted: try readUnquoted(byte, &rows)
            case .quoted:
                if byte == Self.quote {
                    state = .afterQuote
                } else {
                    try take(byte)
                    if byte == 0x0A { line += 1 }
                }
            case .afterQuote:
                if byte == Self.quote {
                    try take(byte)
                    state = .quoted
                } else {
                    guard byte == delimiter || byte == 0x0A || byte == 0x0D else { throw fault(.textAfterQuote) }
                    try readUnquoted(byte, &rows)
                }
            case .afterCarriageReturn:
                guard byte == 0x0A else { throw fault(.loneCarriageReturn) }
                endRow(&rows)
            }
        }
    }

    /// Ends the text: the last row need not end in a line break.
    package mutating func finish(to rows: inout [Row]) throws(Fault) {
        switch state {
        case .cellStart where row.ends.isEmpty: return
        case .cellStart, .unquoted, .afterQuote: endRow(&rows)
        case .quoted: throw Fault(reason: .openQuote, line: quoteLine, cell: row.count)
        case .afterCarriageReturn: throw fault(.loneCarriageReturn)
        }
    }

    private mutating func readUnquoted(_ byte: UInt8, _ rows: inout [Row]) throws(Fault) {
        switch byte {
        case delimiter:
            endCell()
            guard row.bytes.count + row.count <= rowBytes else { throw tooLong }
        case 0x0A: endRow(&rows)
        case 0x0D: state = .afterCarriageReturn
        case Self.quote:
            guard state == .cellStart || isFirstCell && row.bytes == Self.byteOrderMark else {
                throw fault(.strayQuote)
            }
            if isFirstCell { row.bytes = [] }
            (state, isQuoted, quoteLine) = (.quoted, true, line)
        case _:
            try take(byte)
            state = .unquoted
        }
    }

    private var isFirstCell: Bool { isFirstRow && row.ends.isEmpty }

    private mutating func take(_ byte: UInt8) throws(Fault) {
        guard row.bytes.count + row.ends.count < rowBytes else { throw tooLong }
        row.bytes.append(byte)
    }

    private mutating func endCell() {
        if isFirstCell, !isQuoted, row.bytes.starts(with: Self.byteOrderMark) {
            row.bytes.removeFirst(Self.byteOrderMark.count)
        }
        row.ends.append(row.bytes.count)
        (state, isQuoted) = (.cellStart, false)
    }

    private mutating func endRow(_ rows: inout [Row]) {
        let isBlank = row.ends.isEmpty && !isQuoted
        endCell()
        if !isBlank || !row.bytes.isEmpty {
            rows.append(row)
        }
        line += 1
        row = Row(line: line)
        isFirstRow = false
    }

    private func fault(_ reason: Fault.Reason) -> Fault { Fault(reason: reason, line: line, cell: row.count) }

    private var tooLong: Fault { Fault(reason: .tooLong, line: row.line, cell: row.count) }
}
