// Offsets as editors of other kinds count them. All take logarithmic time; the first question about `Character`s reads the
// text, and one after an edit reads some hundred scalars around that (`CharacterCount`).

extension ReplicatedText {
    /// The offset in UTF-8 bytes of the scalar offset `offset`.
    public func utf8Offset(of offset: Int) -> Int { offset + Int(excess(before: offset).utf8) }

    /// The offset in UTF-16 code units of the scalar offset `offset`.
    public func utf16Offset(of offset: Int) -> Int { offset + Int(excess(before: offset).utf16) }

    /// The scalar offset of a UTF-8 byte; nil inside a scalar, and beyond the end.
    public func offset(utf8 unit: Int) -> Int? { self.offset(of: unit, in: .utf8) }

    /// The scalar offset of a UTF-16 code unit; nil between two surrogates, and beyond the end.
    public func offset(utf16 unit: Int) -> Int? { self.offset(of: unit, in: .utf16) }

    /// The number of `Character`s in the text.
    public var characterCount: Int { storage.askingCharacters { characters, _ in characters.summary.count } }

    /// Returns the number of `Character`s that begin before the scalar offset `offset`.
    public func characterOffset(of offset: Int) -> Int {
        precondition(offset >= 0 && offset <= count, "offset \(offset) of \(count) scalars")
        return storage.askingCharacters { characters, engine in
            guard let found = characters.first(where: { end, _ in end > offset }) else {
                return characters.summary.count
            }
            let inside = offset - found.range.lowerBound
            if found.summary.count == found.range.count { return found.before.count + inside }
            // A `Character` ends where it does whatever stands behind it: a part has as many as begin in it.
            let part = engine.pointee.string(ofShown: found.range.lowerBound..<offset)
            return found.before.count + CharacterCount(part, count: inside).count
        }
    }

    /// The scalar offset at which `Character` number `character` begins; nil beyond the end.
    public func offset(ofCharacter character: Int) -> Int? {
        guard character >= 0 else { return nil }
        return storage.askingCharacters { characters, engine in
            guard let found = characters.first(where: { _, before in before.count > character }) else {
                return character == characters.summary.count ? characters.count : nil
            }
            let inside = character - found.before.count
            if found.summary.count == found.range.count { return found.range.lowerBound + inside }
            let string = engine.pointee.string(ofShown: found.range)
            let index = string.index(string.startIndex, offsetBy: inside)
            return found.range.lowerBound + string.unicodeScalars.distance(from: string.startIndex, to: index)
        }
    }

    private func excess(before offset: Int) -> UnicodeExcess {
        precondition(offset >= 0 && offset <= count, "offset \(offset) of \(count) scalars")
        return storage.reading { $0.engine.pointee.tree.excess(before: offset, $0.engine.pointee.arena) }
    }

    private func offset(of unit: Int, in encoding: SpanTree.Unit) -> Int? {
        storage.reading { $0.engine.pointee.tree.offset(of: unit, in: encoding, $0.engine.pointee.arena) }
    }
}
