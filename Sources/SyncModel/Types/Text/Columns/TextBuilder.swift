/// Builds the engine of a whole text from its columns in one walk, without looking for any place.
///
/// The walk goes backwards through the text: where several runs follow one scalar, what decides between them is what stood
/// to their right, and that has been passed by then.
struct TextBuilder {
    private let columns: TextColumns
    private let origins: [TextColumns.RightOrigin]
    /// Heads (runs that do not just go on with the number before), by place and then by number.
    private var attached: [UInt64] = []
    /// Of heads: first number, behind the last, right origin.
    private var starts: [Int32] = []
    private var ends: [Int32] = []
    private var rightOrigins: [Int32] = []
    /// For a group of right children: where those begin that stand behind the rest of the run.
    private var splits: [Int: Int] = [:]
    /// Right origins that decide something, and how far from the end they were passed; −1: not yet.
    private var deciding: [Int32] = []
    private var passed: [Int] = []
    private var passedCount = 0
    /// Spans of numbers, backwards.
    private var spans: [(first: Int32, count: Int32)] = []

    /// Nil when a right origin stands where no honest author saw it; then the runs have to be put in one by one.
    static func engine(_ columns: TextColumns, _ order: [Int]) -> TextCell? {
        var builder = TextBuilder(columns, order)
        return builder.build()
    }

    private init(_ columns: TextColumns, _ order: [Int]) {
        self.columns = columns
        origins = columns.resolvedRightOrigins(order)
    }

    private static func number(_ origin: TextColumns.RightOrigin) -> Int32 {
        if case .scalar(.here(let number)) = origin { return number }
        return -1
    }

    private static func number(_ reference: TextColumns.Reference) -> Int32 {
        if case .here(let number) = reference { return number }
        return -1
    }

    private mutating func build() -> TextCell? {
        let cell = TextCell()
        let engine = cell.engine
        addHeads(engine)
        attached.sort()
        findDeciding()
        guard walk() else { return nil }
        fill(engine)
        return cell
    }

    private mutating func addHeads(_ engine: UnsafeMutablePointer<TextEngine>) {
        for replica in columns.replicas { _ = engine.pointee.dots.makeIndex(of: replica) }
        // A run may hang from a scalar with a greater number: of a replica that is later in order.
        engine.pointee.reserve(columns.count)
        for (index, run) in columns.runs.enumerated() {
            let parent = Self.number(run.parent)
            let rightOrigin = Self.number(origins[index])
            let goesOn =
                run.side == .right && parent >= 0 && parent == run.number - 1
                && rightOrigin == rightOrigins[rightOrigins.count - 1]
            if goesOn {
                ends[ends.count - 1] = run.number + run.count
            } else {
                // What hangs on the left of a scalar is before what hangs on its right.
                let place = UInt64(parent + 1) << 1 | (run.side == .left ? 0 : 1)
                attached.append(place << 32 | UInt64(starts.count))
                starts.append(run.number)
                ends.append(run.number + run.count)
                rightOrigins.append(rightOrigin)
                engine.pointee.addHead(
                    Int(run.number), parent: Int(parent), isLeft: run.side == .left, rightOrigin: Int(rightOrigin))
            }
            engine.pointee.dots.append(Int(run.count), counter: run.counter, by: Int(run.replica))
        }
    }

    private func place(_ index: Int) -> UInt64 { attached[index] >> 32 }
    private func head(_ index: Int) -> Int { Int(attached[index] & 0xffff_ffff) }
    /// The scalar that an attached head hangs from.
    private func parent(_ index: Int) -> Int32 { Int32(truncatingIfNeeded: place(index) >> 1) - 1 }
    private func isLeft(_ index: Int) -> Bool { place(index) & 1 == 0 }

    private func groupEnd(_ start: Int) -> Int {
        var end = start + 1
        while end < attached.count, place(end) == place(start) { end += 1 }
        return end
    }

    /// The head whose run a scalar is in.
    private func headOf(_ number: Int32) -> Int { starts.firstIndexPast { $0 > number } - 1 }

    private func hasImplicitChild(_ number: Int32) -> Bool {
        number >= 0 && number + 1 < ends[headOf(number)]
    }

    private mutating func findDeciding() {
        var start = 0
        while start < attached.count {
            let end = groupEnd(start)
            if !isLeft(start), end - start > 1 || hasImplicitChild(parent(start)) {
                var origins = Set((start..<end).map { rightOrigins[head($0)] })
                if hasImplicitChild(parent(start)) { origins.insert(rightOrigins[headOf(parent(start))]) }
                if origins.count > 1 { deciding += origins.filter { $0 >= 0 } }
            }
            start = end
        }
        deciding = Array(Set(deciding)).sorted()
        passed = [Int](repeating: -1, count: deciding.count)
    }

    // MARK: The walk

    private enum Step {
        /// The heads at these indices of `attached`, from the last to the first.
        case list(Int, Int)
        /// A run: first what stands behind it as a whole, from `attached` index on.
        case behind(head: Int, Int)
        /// Then its scalars from its end down to `attached` index.
        case run(head: Int, end: Int32, Int)
    }

    /// False when something that decides was not passed in time.
    private mutating func walk() -> Bool {
        let rootEnd = attached.firstIndexPast { $0 >> 33 > 0 }
        guard arrange(0, rootEnd, implicit: nil) != nil else { return false }
        var steps: [Step] = [.list(0, rootEnd)]
        while let step = steps.popLast() {
            switch step {
            case .list(let start, let end):
                guard start < end else { continue }
                steps.append(.list(start, end - 1))
                let head = head(end - 1)
                steps.append(.behind(head: head, firstAttached(to: starts[head])))
            case .behind(let head, let index):
                guard walkBehind(head, index, &steps) else { return false }
            case .run(let head, let end, let index):
                walkRun(head, end, index, &steps)
            }
        }
        return passedCount == columns.count
    }

    private func firstAttached(to number: Int32) -> Int {
        let key = UInt64(number + 1) << 33
        return attached.firstIndexPast { $0 >= key }
    }

    private mutating func walkBehind(_ head: Int, _ index: Int, _ steps: inout [Step]) -> Bool {
        var index = index
        let tail = ends[head] - 1
        while index < attached.count, parent(index) <= tail {
            let end = groupEnd(index)
            if isLeft(index) {
                index = end
                continue
            }
            guard let split = arrange(index, end, implicit: parent(index) < tail ? head : nil) else { return false }
            splits[index] = split
            if split < end {
                // What stands between decides in there, so it is walked first.
                steps.append(.behind(head: head, end))
                steps.append(.list(split, end))
                return true
            }
            index = end
        }
        steps.append(.run(head: head, end: ends[head], index))
        return true
    }

    /// Passes the scalars before `end`, down to the next place that something is attached to.
    private mutating func walkRun(_ head: Int, _ end: Int32, _ index: Int, _ steps: inout [Step]) {
        guard index > 0, end > starts[head], parent(index - 1) >= starts[head] else {
            pass(starts[head], end)
            return
        }
        var start = index - 1
        while start > 0, place(start - 1) == place(index - 1) { start -= 1 }
        let number = parent(start)
        if isLeft(start) {
            pass(number, end)
            steps.append(.run(head: head, end: number, start))
            steps.append(.list(start, index))
        } else {
            pass(number + 1, end)
            steps.append(.run(head: head, end: number + 1, start))
            steps.append(.list(start, splits[start, default: index]))
        }
    }

    private mutating func pass(_ first: Int32, _ end: Int32) {
        guard first < end else { return }
        spans.append((first, end - first))
        if !deciding.isEmpty {
            var index = deciding.firstIndexPast { $0 >= first }
            while index < deciding.count, deciding[index] < end {
                passed[index] = passedCount + Int(end - 1 - deciding[index])
                index += 1
            }
        }
        passedCount += Int(end - first)
    }

    /// Sorts right children of one place and says where those begin that stand behind the rest of the run (`implicit`).
    private mutating func arrange(_ start: Int, _ end: Int, implicit: Int?) -> Int? {
        guard start < end, end - start > 1 || implicit != nil else { return end }
        let origins = (start..<end).map { rightOrigins[head($0)] } + (implicit.map { [rightOrigins[$0]] } ?? [])
        if Set(origins).count > 1 {
            // How far each is from the end; the end itself is nearest.
            var distances: [Int32: Int] = [-1: -1]
            for origin in origins where origin >= 0 {
                let index = deciding.firstIndexPast { $0 >= origin }
                guard index < deciding.count, deciding[index] == origin, passed[index] >= 0 else { return nil }
                distances[origin] = passed[index]
            }
            attached[start..<end].sort { left, right in
                let one = distances[rightOrigins[Int(left & 0xffff_ffff)], default: 0]
                let other = distances[rightOrigins[Int(right & 0xffff_ffff)], default: 0]
                return one == other ? left < right : one < other
            }
            guard let implicit else { return end }
            let own = distances[rightOrigins[implicit], default: 0]
            let number = parent(start) + 1
            return (start..<end).first { index in
                let distance = distances[rightOrigins[head(index)], default: 0]
                return distance == own ? starts[head(index)] > number : distance > own
            } ?? end
        }
        guard implicit != nil else { return end }
        // All have one right origin: by dot, which is by number.
        let number = parent(start) + 1
        return (start..<end).first { starts[head($0)] > number } ?? end
    }

    // MARK: Filling

    private func fill(_ engine: UnsafeMutablePointer<TextEngine>) {
        engine.pointee.arena.append(blanks: columns.count)
        var live: [Range<Int>] = []
        columns.forEachLiveNumber { live.append($0) }
        columns.text.withUnsafeBufferPointer { text in
            var source = TextSource(text)
            for span in spans.reversed() {
                var number = Int(span.first)
                let end = number + Int(span.count)
                var index = live.firstIndexPast { $0.upperBound > number }
                while number < end {
                    let isShown = index < live.count && live[index].lowerBound <= number
                    let change = index < live.count ? (isShown ? live[index].upperBound : live[index].lowerBound) : end
                    let part = min(change, end) - number
                    if isShown { source.fill(&engine.pointee.arena, number, part) }
                    engine.pointee.tree.append(
                        SpanTree.Item(number: number, count: part, isShown: isShown), engine.pointee.arena)
                    number += part
                    if isShown, number == live[index].upperBound { index += 1 }
                }
            }
        }
    }
}

/// UTF-8 that is given out scalar by scalar; it was checked before.
struct TextSource {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let isASCII: Bool
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        isASCII = bytes.isASCII
    }

    mutating func next() -> UInt32 {
        let first = UInt32(bytes[position])
        let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
        var scalar = length == 1 ? first : first & (0x7f >> UInt32(length))
        for offset in 1..<max(1, length) { scalar = scalar << 6 | UInt32(bytes[position + offset]) & 0x3f }
        position += length
        return scalar
    }

    /// Gives `count` blanks of the arena from `number` on what comes next.
    mutating func fill(_ arena: inout ScalarArena, _ number: Int, _ count: Int) {
        if isASCII {
            arena.fill(number, with: UnsafeBufferPointer(rebasing: bytes[position..<position + count]))
            position += count
        } else {
            for offset in 0..<count { arena.fill(number + offset, with: next()) }
        }
    }
}
