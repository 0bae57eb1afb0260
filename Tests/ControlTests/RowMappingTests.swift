import ControlAPI
import Testing
import lanyard

@Suite struct RowMappingTests {
    /// An object as `ID {FIELDS}`; `- {FIELDS}` without an id.
    private func shown(_ objects: [NumberedObject]) -> [String] {
        objects.map { "\($0.put.id ?? "-") \($0.put.fields)" }
    }

    private func objects(_ reader: some RowReader, _ bytes: [UInt8]) throws(ControlError) -> [NumberedObject] {
        var reader = reader
        var objects: [NumberedObject] = []
        try reader.append(bytes, to: &objects)
        try reader.finish(to: &objects)
        return objects
    }

    private func csv(
        _ text: String, _ mapping: RowMapping, schema: [SchemaEntry.Field] = [], delimiter: UInt8 = UInt8(ascii: ",")
    ) throws(ControlError) -> [String] {
        let schema = SchemaEntry(collection: "c", fields: schema)
        let reader = CSVObjects(mapping, schema: schema, delimiter: delimiter, isDelimiterGiven: false)
        return shown(try objects(reader, Array(text.utf8)))
    }

    private func jsonLines(_ text: String, _ mapping: RowMapping) throws(ControlError) -> [String] {
        shown(try objects(try JSONLineObjects(mapping, collection: "c"), Array(text.utf8)))
    }

    private func refusal(_ body: () throws(ControlError) -> [String]) throws -> ControlError {
        do throws(ControlError) { #expect(try body().isEmpty, "it should be refused") } catch { return error }
        throw ControlError(.internalFault, "It was not refused.")
    }

    // MARK: Tables

    @Test func `columns become fields of the same name, and empty cells none`() throws {
        let text = "name,age,b c\nAda,36,\n\"Grace\n\",,x\n,,\n"
        #expect(
            try csv(text, RowMapping()) == [#"- {"name":"Ada","age":"36"}"#, #"- {"name":"Grace\n","b c":"x"}"#])
        #expect(try csv("id,name\n1,Ada\n2,\n", RowMapping()) == [#"1 {"name":"Ada"}"#, "2 {}"])
        #expect(try csv("id,name\n1,Ada\n", RowMapping(skipped: ["id"])) == [#"- {"name":"Ada"}"#])
        #expect(try csv("id,name\n1,Ada\n", RowMapping(id: "name")) == [#"Ada {"id":"1"}"#])
    }

    @Test func `a mapping names fields and their types`() throws {
        let maps = ["Full name=name", "Age=age:number", "Tags=tags:list(;)", "Ok=ok:boolean", "Raw=raw:json"]
        let mapping = try RowMapping(id: "Mail", maps: maps, skipped: ["Internal"])
        let text = #"""
            Mail,Full name,Age,Tags,Ok,Raw,Internal,Rest
            a@x,Ada,36,math; poetry;;,YES,"{""a"": [1]}",9,r
            g@x,"Grace ""H""",-1.50, navy ,0,null,,

            """#
        #expect(
            try csv(text, mapping) == [
                #"a@x {"name":"Ada","age":36,"tags":["math","poetry"],"ok":true,"raw":{"a": [1]},"Rest":"r"}"#,
                #"g@x {"name":"Grace \"H\"","age":-1.5,"tags":["navy"],"ok":false,"raw":null}"#,
            ])
        let only = try RowMapping(maps: ["Age=age"], isOnlyMapped: true)
        #expect(try csv("Age,Other,\n1,2,3\n", only) == [#"- {"age":"1"}"#])
        let twice = try RowMapping(id: "a", maps: ["a=a", "a=b:number"])
        #expect(try csv("a\n1\n", twice) == [#"1 {"a":"1","b":1}"#])
    }

    @Test func `a word of a mapping is read up to its first equals sign and from its last type`() throws {
        let pairs = try RowMapping(maps: ["a:b=c=d", "x=y:z:text", "l=m:list(:)", "n=o:list(, )"]).pairs
        #expect(pairs.map(\.source) == ["a:b", "x", "l", "n"])
        #expect(pairs.map(\.field) == ["c=d", "y:z", "m", "o"])
        #expect(pairs.map(\.type) == [nil, .text, .list(separator: ":"), .list(separator: ", ")])
        for word in ["a", "=b", "a=", "a=:text", "a=b:date", "a=b:list()", "a=id"] {
            #expect(throws: ControlError.self, "\(word)") { try RowMapping(maps: [word]) }
        }
        #expect(throws: ControlError.self) { try RowMapping(maps: ["a=c", "b=c"]) }
        #expect(try RowMapping(id: "k", maps: ["a=id"]).pairs.count == 1)
    }

    @Test(
        arguments: [
            ("7", "7"), ("+7", "7"), (" 7 ", "7"), ("007", "7"), ("-0.5", "-0.5"), ("1e3", "1000.0"), (".5", "0.5"),
            ("9223372036854775807", "9223372036854775807"), ("9223372036854775808", nil), ("1e400", nil), ("1,5", nil),
            ("0x10", nil), ("inf", nil), ("nan", nil), ("12 kg", nil), ("-", nil), (" ", nil), ("1-2", nil),
        ] as [(String, String?)])
    func `numbers are 64 bits or a finite double`(cell: String, json: String?) throws {
        let mapping = try RowMapping(maps: ["n=n:number"])
        guard let json else {
            let error = try refusal { () throws(ControlError) in try csv("n\n\"\(cell)\"\n", mapping) }
            #expect(error.line == 2 && error.message.hasPrefix("Line 2, column \"n\": "), "\(error.message)")
            return
        }
        #expect(try csv("n\n\"\(cell)\"\n", mapping) == ["- {\"n\":\(json)}"])
    }

    @Test func `the schema says what a counter takes, and asks how a set is read`() throws {
        let fields = [
            SchemaEntry.Field(name: "plays", type: .counter), SchemaEntry.Field(name: "tags", type: .set),
            SchemaEntry.Field(name: "body", type: .text),
        ]
        #expect(try csv("plays,body\n7,8\n", RowMapping(), schema: fields) == [#"- {"plays":7,"body":"8"}"#])
        for cell in ["7.5", "x"] {
            let error = try refusal { () throws(ControlError) in
                try csv("plays,x\n\(cell),\n", RowMapping(), schema: fields)
            }
            #expect(error.code == .typeMismatch && error.message.contains("\"\(cell)\" is no whole number"))
        }
        let set = try refusal { () throws(ControlError) in
            try csv("T\na\n", RowMapping(maps: ["T=tags"]), schema: fields)
        }
        #expect(set.hint.contains("--map 'T=tags:list(;)'"), "\(set.hint)")
    }

    private static let tables: [(text: String, maps: [String], code: ErrorCode, words: String)] = [
        ("a,b\n1\n", [], .malformedCSV, "Line 2: It has 1 cell, and the first row names 2 columns."),
        ("a,b\n1,2\n\n1,2,3\n", [], .malformedCSV, "Line 4: It has 3 cells"),
        ("a,b\n1,\"2\n", [], .malformedCSV, "Line 2, column \"b\": A quote is opened here and never closed."),
        ("a,b\n1,2\"\n", [], .malformedCSV, "Line 2, column \"b\": A quote stands inside"),
        ("a,a\n1,2\n", [], .malformedCSV, "Line 1: 2 columns are called \"a\"."),
        ("a,\n1,2\n", [], .malformedCSV, "Line 1: Column 2 has no name."),
        ("", [], .malformedCSV, "The file is empty."),
        ("a;b\n1;2\n", [], .malformedCSV, "Line 1: The first row names one column only."),
        ("a,b\n1,2\n", ["A=x"], .invalidArgument, "There is no column \"A\"."),
        ("a,b\n1,2\n", ["a=b"], .invalidArgument, "Two columns would be the field \"b\"."),
        ("id,b\n,2\n", [], .invalidName, "Line 2, column \"id\": The id is empty."),
        ("id,b\nx/y,2\n", [], .invalidName, "Line 2, column \"id\": The id contains a slash."),
        (
            "a,b\n1,maybe\n", ["b=b:boolean"], .typeMismatch,
            "Line 2, column \"b\": \"maybe\" is neither true nor false."
        ),
        ("a,b\n1,{\n", ["b=b:json"], .malformedJSON, "Line 2, column \"b\": \"{\": This is not JSON"),
    ]

    @Test func `a bad table is refused with the line, the column and what was found`() throws {
        for (text, maps, code, words) in Self.tables {
            let error = try refusal { () throws(ControlError) in try csv(text, RowMapping(maps: maps)) }
            #expect(error.code == code, "\(text)")
            #expect(error.message.contains(words), "\(text): \(error.message)")
            #expect(!error.hint.isEmpty, "\(text)")
        }
        let mistyped = try refusal { () throws(ControlError) in try csv("email,b\n1,2\n", RowMapping(id: "Emial")) }
        #expect(mistyped.hint == "Did you mean \"email\"?")
    }

    @Test func `bytes that are not UTF-8 are named`() throws {
        let reader = CSVObjects(
            try RowMapping(), schema: SchemaEntry(collection: "c"), delimiter: UInt8(ascii: ","),
            isDelimiterGiven: false)
        for (bytes, words) in [
            (
                Array("a,b\n1,gr".utf8) + [0xF6] + Array("n\n".utf8),
                "Line 2, column \"b\": This is not UTF-8 (at byte 2"
            ),
            (Array("a,b".utf8) + [0xC3] + Array("\n".utf8), "Line 1, column \"2\": This is not UTF-8 (at byte 1"),
        ] {
            do throws(ControlError) {
                _ = try objects(reader, bytes)
                Issue.record("it should be refused")
            } catch {
                #expect(error.code == .invalidUTF8 && error.message.contains(words), "\(error.message)")
            }
        }
    }

    // MARK: JSON lines

    @Test func `without a mapping JSON lines are those that put takes`() throws {
        let text = #"{"id":"a","n":1.50}"# + "\n\n{\"n\": [1, 2]}\r\n"
        #expect(try jsonLines(text, RowMapping()) == [#"a {"n":1.50}"#, #"- {"n": [1, 2]}"#])
        let whole = #"{"id":"a","collection":"c","fields":{"id":7},"version":"x"}"#
        #expect(try jsonLines("\u{FEFF}" + whole, RowMapping()) == [#"a {"id":7}"#])
    }

    @Test func `a path reaches into a line`() throws {
        let text = #"{"isrc":"x","artist":{"name":"A","born":1},"list":[{"k":5}],"a.b":{"/":null},"id":3}"#
        let mapping = try RowMapping(
            id: "isrc", maps: ["artist.name=artist", "list.0.k=first", "/a.b/~1=odd", "missing.x=none"],
            skipped: ["list"])
        #expect(
            try jsonLines(text, mapping) == [#"x {"artist":"A","first":5,"odd":null,"a.b":{"/":null},"id":3}"#])
        let only = try RowMapping(maps: ["artist.born=born"], isOnlyMapped: true)
        #expect(try jsonLines(text, only) == [#"3 {"born":1}"#])
        #expect(try jsonLines(text, RowMapping(id: "artist.name", isOnlyMapped: true)) == ["A {}"])
    }

    private static let lines: [(text: String, id: String?, maps: [String], code: ErrorCode, words: String)] = [
        ("{\"a\":1}\noops\n", nil, [], .malformedJSON, "Line 2: This is not JSON"),
        ("[{\"a\":1}]\n", nil, [], .typeMismatch, "Line 1: This is a list"),
        ("\n7\n", "a", [], .typeMismatch, "Line 2: "),
        ("{\"a\":1}\n", "b", [], .invalidArgument, "Line 1: It has no \"b\" to be its id."),
        ("{\"b\":true}\n", "b", [], .invalidArgument, "Line 1: \"b\" is neither a string nor a whole number"),
        ("{\"b\":\"\"}\n", "b", [], .invalidName, "Line 1: The id is empty."),
        ("{\"a\":1,\"b\":2}\n", nil, ["a=b"], .invalidArgument, "Line 1: Two columns would be the field \"b\"."),
        ("{}\n", nil, ["a=b:number"], .invalidArgument, "JSON lines have types of their own."),
        ("{}\n", nil, ["/a~2=b"], .invalidArgument, "In a path, ~ stands before 0 or 1."),
    ]

    @Test func `a bad line is refused with its number`() throws {
        for (text, id, maps, code, words) in Self.lines {
            let error = try refusal { () throws(ControlError) in try jsonLines(text, RowMapping(id: id, maps: maps)) }
            #expect(error.code == code, "\(text): \(error.code)")
            #expect(error.message.contains(words), "\(text): \(error.message)")
        }
    }

    @Test func `a line that never ends is refused at the bound of a row`() throws {
        var reader = try JSONLineObjects(try RowMapping(), collection: "c")
        var objects: [NumberedObject] = []
        let piece = [UInt8](repeating: UInt8(ascii: "["), count: 262_144)
        var taken = 0
        while taken < 4_096, (try? reader.append(piece, to: &objects)) != nil { taken += 1 }
        #expect(taken == RowLimits.rowBytes / piece.count)
    }
}
