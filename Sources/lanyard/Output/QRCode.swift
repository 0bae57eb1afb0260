/// A QR code of up to 106 bytes: ISO/IEC 18004:2015 in byte mode, error correction level M, versions 1 to 6. In these all blocks
/// of a code are equally long, and there is at most one alignment pattern.
package struct QRCode: Equatable {
    /// The modules on a side.
    package let side: Int
    /// The number of the mask, 0 to 7.
    package private(set) var mask = 0
    /// Row by row; true: dark.
    private var isDark: [Bool]
    /// Modules that hold no data.
    private var isFixed: [Bool]

    /// The blocks of a version, with the codewords of data and of correction in each (Table 9).
    private static let versions: [(blocks: Int, data: Int, correction: Int)] = [
        (1, 16, 10), (1, 28, 16), (1, 44, 26), (2, 32, 18), (2, 43, 24), (4, 27, 16),
    ]

    /// Nil for more than 106 bytes.
    package init?(_ bytes: [UInt8]) {
        // Mode and length take twelve bits.
        let fits = Self.versions.firstIndex { $0.blocks * $0.data >= bytes.count + 2 }
        guard let index = fits else { return nil }
        let version = Self.versions[index]
        side = 21 + 4 * index
        isDark = Array(repeating: false, count: side * side)
        isFixed = isDark
        drawPatterns(hasAlignment: index > 0)
        let data = Self.data(bytes, count: version.blocks * version.data)
        let blocks = (0..<version.blocks).map { Array(data[$0 * version.data..<($0 + 1) * version.data]) }
        let divisor = Self.generator(version.correction)
        let corrections = blocks.map { Self.remainder($0, divisor) }
        place(
            (0..<version.data).flatMap { word in blocks.map { $0[word] } }
                + (0..<version.correction).flatMap { word in corrections.map { $0[word] } })
        let plain = isDark
        let penalties = (0..<8).map { mask in
            isDark = plain
            apply(mask)
            return penalty
        }
        isDark = plain
        apply(penalties.indices.min { (penalties[$0], $0) < (penalties[$1], $1) } ?? 0)
    }

    /// True for a dark module; all beyond the sides are light.
    package subscript(row: Int, column: Int) -> Bool {
        (0..<side).contains(row) && (0..<side).contains(column) && isDark[row * side + column]
    }

    // MARK: Codewords

    /// Mode, length, bytes, the end, and padding: all of it lies four bits off the borders of codewords.
    private static func data(_ bytes: [UInt8], count: Int) -> [UInt8] {
        let byteMode: UInt8 = 0b0100
        var words: [UInt8] = []
        var rest = byteMode
        for byte in [UInt8(bytes.count)] + bytes + [0] {
            words.append(rest << 4 | byte >> 4)
            rest = byte & 0xF
        }
        for pad in 0..<count - words.count { words.append(pad.isMultiple(of: 2) ? 0xEC : 0x11) }
        return words
    }

    // MARK: Reed–Solomon over GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result: UInt8 = 0
        for place in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7 == 1 ? 0x1D : 0)
            if right >> UInt8(place) & 1 == 1 { result ^= left }
        }
        return result
    }

    /// Returns (x - 1)(x - 2)(x - 2^2)… without its leading 1.
    private static func generator(_ degree: Int) -> [UInt8] {
        var (result, root): ([UInt8], UInt8) = (Array(repeating: 0, count: degree - 1) + [1], 1)
        for _ in 0..<degree {
            for place in 0..<degree {
                result[place] = product(result[place], root) ^ (place + 1 < degree ? result[place + 1] : 0)
            }
            root = product(root, 2)
        }
        return result
    }

    private static func remainder(_ data: [UInt8], _ divisor: [UInt8]) -> [UInt8] {
        var result = Array(repeating: UInt8(0), count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for place in divisor.indices { result[place] ^= product(divisor[place], factor) }
        }
        return result
    }
}

// MARK: - The picture

extension QRCode {
    private mutating func fix(_ row: Int, _ column: Int, _ dark: Bool) {
        guard (0..<side).contains(row), (0..<side).contains(column) else { return }
        isDark[row * side + column] = dark
        isFixed[row * side + column] = true
    }

    private mutating func drawPatterns(hasAlignment: Bool) {
        for place in 0..<side {
            fix(6, place, place.isMultiple(of: 2))
            fix(place, 6, place.isMultiple(of: 2))
        }
        for (row, column) in [(3, 3), (3, side - 4), (side - 4, 3)] {
            drawRings(row, column, radius: 4) { $0 != 2 && $0 != 4 }
        }
        if hasAlignment { drawRings(side - 7, side - 7, radius: 2) { $0 != 1 } }
        drawFormat(0)
    }

    private mutating func drawRings(_ row: Int, _ column: Int, radius: Int, isDark: (Int) -> Bool) {
        for down in -radius...radius {
            for right in -radius...radius { fix(row + down, column + right, isDark(max(abs(down), abs(right)))) }
        }
    }

    /// The level M is 00 (Table 12); BCH(15, 5), twice.
    private mutating func drawFormat(_ mask: Int) {
        let rest = (0..<10).reduce(mask) { rest, _ in rest << 1 ^ (rest >> 9 & 1) * 0x537 }
        let bits = (mask << 10 | rest) ^ 0x5412
        for place in 0..<15 {
            let dark = bits >> place & 1 == 1
            fix(place < 6 ? place : place < 8 ? place + 1 : 8, place < 8 ? 8 : place == 8 ? 7 : 14 - place, dark)
            if place < 8 { fix(8, side - 1 - place, dark) } else { fix(side - 15 + place, 8, dark) }
        }
        fix(side - 8, 8, true)
    }

    /// Two columns at a time, from the right, upwards and downwards in turns; column 6 is passed over.
    private mutating func place(_ words: [UInt8]) {
        var next = 0
        for right in stride(from: side - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
            let goesUp = (right + 1) & 2 == 0
            for step in 0..<side {
                let row = goesUp ? side - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * side + column] && next < words.count * 8 {
                    isDark[row * side + column] = words[next / 8] >> UInt8(7 - next % 8) & 1 == 1
                    next += 1
                }
            }
        }
    }

    private mutating func apply(_ mask: Int) {
        self.mask = mask
        for row in 0..<side {
            for column in 0..<side where !isFixed[row * side + column] {
                let product = row * column
                let flips =
                    switch mask {
                    case 0: (row + column) % 2
                    case 1: row % 2
                    case 2: column % 3
                    case 3: (row + column) % 3
                    case 4: (row / 2 + column / 3) % 2
                    case 5: product % 2 + product % 3
                    case 6: (product % 2 + product % 3) % 2
                    case _: ((row + column) % 2 + product % 3) % 2
                    }
                if flips == 0 { isDark[row * side + column].toggle() }
            }
        }
        drawFormat(mask)
    }

    /// The points against a picture that is hard to read: runs of one kind, blocks of four, what looks like a finder (7.8.3).
    private var penalty: Int {
        var result = 0
        for line in 0..<side {
            for modules in [(0..<side).map { self[line, $0] }, (0..<side).map { self[$0, line] }] {
                result += Self.runPenalty(modules) + 40 * Self.finders(modules)
            }
            for column in 0..<side - 1 where line < side - 1 {
                let dark = self[line, column]
                let others = [self[line, column + 1], self[line + 1, column], self[line + 1, column + 1]]
                if others.allSatisfy({ $0 == dark }) { result += 3 }
            }
        }
        return result
    }

    private static func runPenalty(_ line: [Bool]) -> Int {
        var (result, run) = (0, 0)
        for (place, dark) in line.enumerated() {
            run = place > 0 && line[place - 1] == dark ? run + 1 : 1
            if run == 5 { result += 3 } else if run > 5 { result += 1 }
        }
        return result
    }

    /// The places of 1:1:3:1:1 with four light modules on a side of it.
    private static func finders(_ line: [Bool]) -> Int {
        let finder = [true, false, true, true, true, false, true]
        return (0...line.count - finder.count).count { start in
            guard Array(line[start..<start + 7]) == finder else { return false }
            let before = line[max(0, start - 4)..<start], after = line[start + 7..<min(line.count, start + 11)]
            return !before.contains(true) || !after.contains(true)
        }
    }
}

// MARK: - In a terminal

extension QRCode {
    /// The margin of light modules that readers need, on each side.
    private static let margin = 4

    /// The columns of a terminal that `lines` take.
    package var width: Int { side + 2 * Self.margin }

    /// The code for a terminal: two rows of modules a line, light ones drawn, with the margin.
    package var lines: [String] {
        stride(from: -Self.margin, to: side + Self.margin, by: 2).map { row in
            String(
                (-Self.margin..<side + Self.margin).map { column -> Character in
                    switch (self[row, column], self[row + 1, column]) {
                    case (false, false): "█"
                    case (false, true): "▀"
                    case (true, false): "▄"
                    case (true, true): " "
                    }
                })
        }
    }
}
