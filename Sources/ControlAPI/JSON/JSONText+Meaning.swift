extension JSONText {
    /// Returns true if both values are equal apart from the order of keys, blanks and escapes. Numbers are compared as written:
    /// `1.0` and `1` differ.
    package func means(_ other: JSONText) -> Bool {
        if bytes == other.bytes { return true }
        // Checked when they were made.
        guard let left = try? JSONDocument(bytes), let right = try? JSONDocument(other.bytes) else { return false }
        return Self.areSame(left.root, left, right.root, right)
    }

    private static func areSame(
        _ left: JSONNode, _ leftText: JSONDocument, _ right: JSONNode, _ rightText: JSONDocument
    ) -> Bool {
        switch (left.kind, right.kind) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number, .number): leftText.text(of: left) == rightText.text(of: right)
        case (.string, .string):
            // Twins in composition are two strings.
            (leftText.string(of: left) ?? "").utf8.elementsEqual((rightText.string(of: right) ?? "").utf8)
        case (.array(let left), .array(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { areSame($0, leftText, $1, rightText) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && zip(sorted(left), sorted(right)).allSatisfy { left, right in
                    left.key.utf8.elementsEqual(right.key.utf8) && areSame(left.value, leftText, right.value, rightText)
                }
        case _: false
        }
    }

    private static func sorted(_ members: [(key: String, value: JSONNode)]) -> [(key: String, value: JSONNode)] {
        members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
