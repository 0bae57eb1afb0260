package import ControlAPI

/// The wishes about the rows of a file: which column names the object, and which become fields.
package struct RowMapping: Sendable {
    /// A `--map SOURCE=FIELD[:TYPE]`.
    package struct Pair: Sendable {
        package let source: String
        package let field: String
        /// Nil if none was given.
        package let type: CellType?

        /// Reads the word of a command line. The source ends at the first `=`, and the type begins behind the last `:` that a
        /// type follows.
        init(parsing word: String) throws(ControlError) {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                throw ControlError(
                    .invalidArgument, "\"\(word)\" is no mapping.",
                    hint: "Write --map 'COLUMN=FIELD' or 'COLUMN=FIELD:TYPE'.")
            }
            source = String(word[..<equals])
            let target = word[word.index(after: equals)...]
            let colon = target.firstRange(of: ":list(")?.lowerBound ?? target.lastIndex(of: ":")
            if let colon {
                guard let type = CellType(parsing: target[target.index(after: colon)...]) else {
                    throw ControlError(
                        .invalidArgument, "\"\(target[target.index(after: colon)...])\" is no type of cells.",
                        hint: "Types: \(CellType.words).")
                }
                (field, self.type) = (String(target[..<colon]), type)
            } else {
                (field, type) = (String(target), nil)
            }
            guard !field.isEmpty else {
                throw ControlError(
                    .invalidArgument, "\"\(word)\" names no field.", hint: "To leave a column out: --skip '\(source)'")
            }
        }
    }

    /// The source of the ids; nil: a column called `id`, if there is one that is neither mapped nor skipped.
    package let id: String?
    package let pairs: [Pair]
    package let skipped: [String]
    package let isOnlyMapped: Bool

    /// - Parameter maps: the words of `--map`.
    /// - Throws: `invalid_argument` for a word that is none, and for two sources of one field.
    package init(
        id: String? = nil, maps: [String] = [], skipped: [String] = [], isOnlyMapped: Bool = false
    ) throws(ControlError) {
        var pairs: [Pair] = []
        for word in maps { pairs.append(try Pair(parsing: word)) }
        self.id = id
        self.pairs = pairs
        self.skipped = skipped
        self.isOnlyMapped = isOnlyMapped
        for (index, pair) in pairs.enumerated() {
            if pairs[..<index].contains(where: { $0.field.bytewise == pair.field.bytewise }) {
                throw Self.twoSources(of: pair.field)
            }
            // An object's line has its id under that name.
            if id == nil, pair.field == Self.idColumn {
                throw ControlError(
                    .invalidArgument, "A field that is called id would be taken for the object's id.",
                    hint: "To take that column as the id: --id '\(pair.source)'")
            }
        }
    }

    package static let idColumn = "id"

    /// True if all is taken as it is.
    var isEmpty: Bool { id == nil && pairs.isEmpty && skipped.isEmpty && !isOnlyMapped }

    static func twoSources(of field: String) -> ControlError {
        ControlError(
            .invalidArgument, "Two columns would be the field \"\(shown(field))\".",
            hint: "Give one of them another name with --map COLUMN=FIELD, or leave it out with --skip COLUMN.")
    }
}
