// Offsets as UTF-8 and UTF-16 count them. Hot file; see `Column`.

extension SpanTree {
    /// Returns the UTF-8 and UTF-16 code units of the first `offset` shown scalars beyond one each.
    mutating func excess(before offset: Int, _ arena: borrowing ScalarArena) -> UnicodeExcess {
        guard !excess.isZero, offset > 0 else { return UnicodeExcess() }
        if offset >= shownCount { return excess }
        flush()
        var sum = UnicodeExcess()
        var rest = Int32(truncatingIfNeeded: offset)
        var current = Self.firstLeaf
        var node = root
        while node >= 0 {
            let words = inner(node)
            var slot = 0
            while words[Inner.shown + slot] <= rest {
                rest -= words[Inner.shown + slot]
                sum += UnicodeExcess(utf8: words[Inner.utf8 + slot], utf16: words[Inner.utf16 + slot])
                slot += 1
            }
            current = Int(words[Inner.children + slot])
            node = words[Inner.isOverLeaves] == 1 ? -1 : current
        }
        for index in 0..<itemCount(in: current) where rest > 0 {
            let item = item(current, index)
            guard item.isShown else { continue }
            let part = min(item.count, Int(rest))
            sum += arena.excess(item.number, part)
            rest -= Int32(truncatingIfNeeded: part)
        }
        return sum
    }

    /// The encoding whose units are counted.
    enum Unit {
        case utf8
        case utf16
    }

    /// Returns the number of shown scalars before a unit of an encoding; nil if the unit is inside a scalar, or beyond the
    /// end.
    mutating func offset(of unit: Int, in encoding: Unit, _ arena: borrowing ScalarArena) -> Int? {
        let surplus = encoding == .utf8 ? excess.utf8 : excess.utf16
        guard unit >= 0, unit <= shownCount + Int(surplus) else { return nil }
        if surplus == 0 || unit == 0 { return unit }
        flush()
        var rest = unit
        var scalars = 0
        var current = Self.firstLeaf
        var node = root
        let column = encoding == .utf8 ? Inner.utf8 : Inner.utf16
        while node >= 0 {
            let words = inner(node)
            var slot = 0
            while slot + 1 < Int(words[Inner.count]) {
                let units = Int(words[Inner.shown + slot] + words[column + slot])
                guard units < rest else { break }
                rest -= units
                scalars += Int(words[Inner.shown + slot])
                slot += 1
            }
            current = Int(words[Inner.children + slot])
            node = words[Inner.isOverLeaves] == 1 ? -1 : current
        }
        for index in 0..<itemCount(in: current) where rest > 0 {
            let item = item(current, index)
            guard item.isShown else { continue }
            let wide = arena.excess(item.number, item.count)
            let units = item.count + Int(encoding == .utf8 ? wide.utf8 : wide.utf16)
            if units <= rest {
                rest -= units
                scalars += item.count
                continue
            }
            var number = item.number
            while rest > 0 {
                var one = UnicodeExcess()
                one.add(arena[number])
                rest -= 1 + Int(encoding == .utf8 ? one.utf8 : one.utf16)
                number += 1
                scalars += 1
            }
        }
        return rest == 0 ? scalars : nil
    }
}
