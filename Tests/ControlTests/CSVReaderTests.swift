import Testing
import lanyard

@Suite struct CSVReaderTests {
    private static let mark = "\u{FEFF}"

    /// Reads a text in pieces that end at these places.
    private func read(
        _ text: [UInt8], cutAt places: [Int] = [], delimiter: UInt8 = UInt8(ascii: ","), rowBytes: Int = 1_000
    ) throws(CSVReader.Fault) -> [CSVReader.Row] {
        var reader = CSVReader(delimiter: delimiter, rowBytes: rowBytes)
        var rows: [CSVReader.Row] = []
        for (start, end) in zip([0] + places, places + [text.count]) {
            try reader.append(Array(text[start..<end]), to: &rows)
        }
        try reader.finish(to: &rows)
        return rows
    }

    private func cells(_ rows: [CSVReader.Row]) -> [[String]] {
        rows.map { row in (0..<row.count).map { String(decoding: row[$0], as: UTF8.self) } }
    }

    private static let tables: [(text: String, rows: [[String]], lines: [Int])] = [
        ("", [], []),
        ("\n\r\n\n", [], []),
        (mark, [], []),
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]], [1, 2]),
        ("a,b\r\n1,2", [["a", "b"], ["1", "2"]], [1, 2]),
        (mark + "a,b\n\(mark)1,2\n", [["a", "b"], [mark + "1", "2"]], [1, 2]),
        (mark + "\"a\",b\n", [["a", "b"]], [1]),
        ("\"\(mark)a\"\n", [[mark + "a"]], [1]),
        ("a,,\n,,\n", [["a", "", ""], ["", "", ""]], [1, 2]),
        ("\"\"\n\n\"\"\r\n", [[""], [""]], [1, 3]),
        ("\"a\"\"b\",\"\"\"\"\n", [["a\"b", "\""]], [1]),
        ("\"a,b\r\nc\nd\",e\nf,g", [["a,b\r\nc\nd", "e"], ["f", "g"]], [1, 4]),
        ("größe,\"ö\",🚲\n", [["größe", "ö", "🚲"]], [1]),
        ("a b , c\n", [["a b ", " c"]], [1]),
        ("a,b\n\n1,2\n", [["a", "b"], ["1", "2"]], [1, 3]),
        ("a,\"b\"", [["a", "b"]], [1]),
        ("a,", [["a", ""]], [1]),
    ]

    @Test func `tables are read alike wherever their bytes are cut`() throws {
        for table in Self.tables {
            let text = Array(table.text.utf8)
            for first in 0...text.count {
                for second in first...text.count {
                    let rows = try read(text, cutAt: [first, second])
                    #expect(cells(rows) == table.rows, "\(table.text) cut at \(first) and \(second)")
                    #expect(rows.map(\.line) == table.lines, "\(table.text) cut at \(first) and \(second)")
                }
            }
            #expect(try cells(read(text, cutAt: Array(0...text.count))) == table.rows, "byte by byte")
        }
    }

    @Test func `other delimiters are read`() throws {
        #expect(try cells(read(Array("a\t\"b\tc\"\td,e\n".utf8), delimiter: 0x09)) == [["a", "b\tc", "d,e"]])
        #expect(try cells(read(Array("a;b\n".utf8), delimiter: UInt8(ascii: ";"))) == [["a", "b"]])
    }

    private static let faults: [(text: String, fault: CSVReader.Fault)] = [
        ("a,b\"c\n", CSVReader.Fault(reason: .strayQuote, line: 1, cell: 1)),
        ("a\nb,\"c\"d\n", CSVReader.Fault(reason: .textAfterQuote, line: 2, cell: 1)),
        ("\"c\" \n", CSVReader.Fault(reason: .textAfterQuote, line: 1, cell: 0)),
        ("a\rb\n", CSVReader.Fault(reason: .loneCarriageReturn, line: 1, cell: 0)),
        ("a\r", CSVReader.Fault(reason: .loneCarriageReturn, line: 1, cell: 0)),
        ("a\n1,\"\n\n", CSVReader.Fault(reason: .openQuote, line: 2, cell: 1)),
        ("a\n\n" + String(repeating: "x", count: 33), CSVReader.Fault(reason: .tooLong, line: 3, cell: 0)),
        (String(repeating: ",", count: 33), CSVReader.Fault(reason: .tooLong, line: 1, cell: 33)),
    ]

    @Test func `what is no table is refused with its line and its cell, wherever it is cut`() {
        for (text, fault) in Self.faults {
            let text = Array(text.utf8)
            for place in 0...text.count {
                #expect(throws: fault, "\(String(decoding: text, as: UTF8.self)) cut at \(place)") {
                    try read(text, cutAt: [place], rowBytes: 32)
                }
            }
        }
    }

    @Test func `rows before a fault are given`() throws {
        var reader = CSVReader(delimiter: UInt8(ascii: ","), rowBytes: 100)
        var rows: [CSVReader.Row] = []
        #expect(throws: CSVReader.Fault.self) { try reader.append(Array("a\n1\n2\"\n3\n".utf8), to: &rows) }
        #expect(cells(rows) == [["a"], ["1"]])
    }

    @Test func `a cell that never ends is refused at the bound of a row`() throws {
        var reader = CSVReader(delimiter: UInt8(ascii: ","), rowBytes: RowLimits.rowBytes)
        var rows: [CSVReader.Row] = []
        try reader.append(Array("a\n\"".utf8), to: &rows)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 262_144)
        var taken = 0
        // A GiB would be 4096 pieces.
        while taken < 4_096, (try? reader.append(piece, to: &rows)) != nil { taken += 1 }
        #expect(taken == RowLimits.rowBytes / piece.count)
    }
}
