import ControlAPI

/// A condition on the rows of a listing, by the keys that `--json` prints: the same words and the same meaning as on the fields of
/// objects (`lanyard list --where`).
struct RowFilter {
    let condition: ObjectCondition

    /// True if it holds for a row. A key that the row does not have compares like null.
    func holds(_ row: JSONDocument) -> Bool { Self.holds(condition, row) }

    private static func holds(_ condition: ObjectCondition, _ row: JSONDocument) -> Bool {
        switch condition {
        case .compare(let path, let comparison, let operand):
            Value(at: path, in: row).compares(comparison, to: Value(operand))
        case .isIn(let path, let operands):
            operands.contains { Value(at: path, in: row).compares(.equal, to: Value($0)) }
        case .all(let conditions): conditions.allSatisfy { holds($0, row) }
        case .any(let conditions): conditions.contains { holds($0, row) }
        case .not(let condition): !holds(condition, row)
        }
    }

    /// The first keys of the paths that the condition names.
    var keys: [String] { Self.keys(of: condition) }

    private static func keys(of condition: ObjectCondition) -> [String] {
        switch condition {
        case .compare(let path, _, _), .isIn(let path, _): path.keys.first.map { [$0] } ?? []
        case .all(let conditions), .any(let conditions): conditions.flatMap(keys)
        case .not(let condition): keys(of: condition)
        }
    }
}

/// A JSON value that is compared.
private enum Value {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([Value])
    /// An object, which only equals another.
    case other(JSONText)

    init(_ text: JSONText) {
        guard let document = try? JSONDocument(text.bytes) else {
            self = .null
            return
        }
        self.init(document.root, document)
    }

    init(at path: FieldPath, in document: JSONDocument) {
        var node = document.root
        for key in path.keys {
            guard case .object(let members) = node.kind,
                let member = members.first(where: { $0.key.utf8.elementsEqual(key.utf8) })
            else {
                self = .null
                return
            }
            node = member.value
        }
        self.init(node, document)
    }

    private init(_ node: JSONNode, _ document: JSONDocument) {
        switch node.kind {
        case .null: self = .null
        case .bool(let isTrue): self = .bool(isTrue)
        case .number: self = .number(Double(String(decoding: document.text(of: node), as: UTF8.self)) ?? .nan)
        case .string: self = .text(document.string(of: node) ?? "")
        case .array(let elements): self = .array(elements.map { Value($0, document) })
        case .object: self = .other(JSONText(checked: document.text(of: node)))
        }
    }

    func compares(_ comparison: ObjectCondition.Comparison, to operand: Value) -> Bool {
        switch comparison {
        case .equal: equals(operand)
        case .notEqual: !equals(operand)
        case .less: order(operand).map { $0 < 0 } ?? false
        case .lessOrEqual: order(operand).map { $0 <= 0 } ?? false
        case .greater: order(operand).map { $0 > 0 } ?? false
        case .greaterOrEqual: order(operand).map { $0 >= 0 } ?? false
        case .prefix:
            if case (.text(let text), .text(let prefix)) = (self, operand) {
                text.utf8.starts(with: prefix.utf8)
            } else {
                false
            }
        case .contains:
            switch (self, operand) {
            case (.array(let elements), _): elements.contains { $0.equals(operand) }
            case (.text(let text), .text(let part)): part.isEmpty || text.utf8.contains(part.utf8)
            case _: false
            }
        }
    }

    private func equals(_ other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.equals($1) }
        case (.other(let left), .other(let right)): left.means(right)
        case _: order(other) == 0
        }
    }

    /// A number below, equal to or above 0; nil for values without an order.
    private func order(_ other: Value) -> Int? {
        switch (self, other) {
        case (.number(let left), .number(let right)): left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
        case (.text(let left), .text(let right)):
            left.unicodeScalars.elementsEqual(right.unicodeScalars)
                ? 0 : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
        case (.bool(let left), .bool(let right)): left == right ? 0 : left ? 1 : -1
        case _: nil
        }
    }
}
