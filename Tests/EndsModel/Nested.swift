/// Integers in nested brackets: a line of a fixture.
enum Nested {
    case one(Int)
    case many([Nested])

    init?(_ text: some StringProtocol) {
        var open: [[Nested]] = [[]]
        var digits = ""
        for character in text {
            switch character {
            case "[": open.append([])
            case ",", "]":
                if !digits.isEmpty {
                    guard let number = Int(digits) else { return nil }
                    open[open.count - 1].append(.one(number))
                    digits = ""
                }
                guard character == "]" else { continue }
                guard open.count > 1 else { return nil }
                let closed = open.removeLast()
                open[open.count - 1].append(.many(closed))
            case " ": continue
            case _: digits.append(character)
            }
        }
        guard open.count == 1, open[0].count == 1 else { return nil }
        self = open[0][0]
    }

    var list: [Nested]? {
        if case .many(let parts) = self { parts } else { nil }
    }
    var number: Int {
        if case .one(let number) = self { number } else { .min }
    }
    var numbers: [Int] { (list ?? []).map(\.number) }
    var rows: [[Int]] { (list ?? []).map(\.numbers) }
}
