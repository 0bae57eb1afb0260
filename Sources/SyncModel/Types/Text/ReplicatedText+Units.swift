// Offsets as editors of other kinds count them. All take logarithmic time but those of `Character`, which depend on what
// stands before: these walk the text, unless it is ASCII.

extension ReplicatedText {
    /// The offset in UTF-8 bytes of the scalar offset `offset`.
    public func utf8Offset(of offset: Int) -> Int { offset + Int(excess(before: offset).utf8) }

    /// The offset in UTF-16 code units of the scalar offset `offset`.
    public func utf16Offset(of offset: Int) -> Int { offset + Int(excess(before: offset).utf16) }

    /// The scalar offset of a UTF-8 byte; nil inside a scalar, and beyond the end.
    public func offset(utf8 unit: Int) -> Int? { self.offset(of: unit, in: .utf8) }

    /// The scalar offset of a UTF-16 code unit; nil between two surrogates, and beyond the end.
    public func offset(utf16 unit: Int) -> Int? { self.offset(of: unit, in: .utf16) }

    /// How many `Character`s begin before the scalar offset `offset`.
    public func characterOffset(of offset: Int) -> Int {
        precondition(offset >= 0 && offset <= count, "offset \(offset) of \(count) scalars")
        let string = self.string
        if string.utf8.count == count, !string.utf8.contains(0x0d) { return offset }
        let end = string.unicodeScalars.index(string.startIndex, offsetBy: offset)
        var characters = 0
        var index = string.startIndex
        while index < end {
            characters += 1
            index = string.index(after: index)
        }
        return characters
    }

    /// The scalar offset at which `Character` number `character` begins; nil beyond the end.
    public func offset(ofCharacter character: Int) -> Int? {
        let string = self.string
        if string.utf8.count == count, !string.utf8.contains(0x0d) { return 0...count ~= character ? character : nil }
        guard character >= 0,
            let index = string.index(string.startIndex, offsetBy: character, limitedBy: string.endIndex)
        else { return nil }
        return string.unicodeScalars.distance(from: string.startIndex, to: index)
    }

    private func excess(before offset: Int) -> UnicodeExcess {
        precondition(offset >= 0 && offset <= count, "offset \(offset) of \(count) scalars")
        return storage.reading { $0.engine.pointee.tree.excess(before: offset, $0.engine.pointee.arena) }
    }

    private func offset(of unit: Int, in encoding: SpanTree.Unit) -> Int? {
        storage.reading { $0.engine.pointee.tree.offset(of: unit, in: encoding, $0.engine.pointee.arena) }
    }
}
