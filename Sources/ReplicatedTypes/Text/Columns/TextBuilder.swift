/// Puts the runs of columns into an engine that holds none of their scalars, all at once: what hangs together is one piece,
/// and a place is looked for only where a piece hangs from a scalar that was here.
///
/// The walk goes backwards through each piece: where several runs follow one scalar, what decides between them is what
/// stood to their right, and that has been passed by then.
struct TextBuilder {
    private let columns: TextColumns
    /// The engine's index of each replica of the columns.
    private let replicas: [Int]
    /// The number in the engine of the columns' number 0.
    private let base: Int32
    /// Heads (runs that do not just go on with the number before): first number, place as `TextEngine` has it, right origin.
    private var starts: [Int32] = []
    private var places: [Int32] = []
    private var rightOrigins: [Int32] = []
    private var heads = NumberFinder()
    /// Heads by place and then by number, in the order of siblings once the walk was there.
    private var attached: [UInt64] = []
    /// The number of them that hang from scalars that were here.
    private var rootCount = 0
    /// The first index in `attached` of a head's children, by head.
    private var firstAttached: [Int32] = []
    /// The index of the first sibling behind the rest of the run, by the first of several right children of a place.
    private var splits: [Int32] = []
    /// Right origins that decide something, and how far from the end they were passed; −1: not yet.
    private var deciding: [Int32] = []
    private var passed: [Int] = []
    private var passedCount = 0
    /// The start of the piece being walked.
    private var pieceStart = 0
    /// Spans of numbers, backwards.
    private var spans: [(first: Int32, count: Int32)] = []
    /// True if the pieces that hang from the beginning go before all scalars that were here; false if they go behind.
    private var isFirst = true

    /// The scalars that hang from one scalar that was here: the first of its `attached`, and its spans.
    private typealias Piece = (start: Int, spans: Range<Int>)

    /// Puts the columns into the engine. Returns false, and changes nothing, if a right origin stands where no honest author
    /// saw it, or if one of the places already has children here. Then the caller has to put in the runs one by one.
    static func put(_ columns: TextColumns, into engine: inout TextEngine) -> Bool {
        guard var builder = TextBuilder(columns, &engine), builder.areFree(&engine), let pieces = builder.walk() else {
            return false
        }
        builder.fill(&engine, pieces)
        return true
    }

    private init?(_ columns: TextColumns, _ engine: inout TextEngine) {
        var columns = columns
        columns.resolve()
        self.columns = columns
        base = Int32(truncatingIfNeeded: engine.count)
        replicas = columns.replicas.map { engine.dots.makeIndex(of: $0) }
        guard let origins = resolvedOrigins(engine), addHeads(origins, engine) else { return nil }
        heads = NumberFinder(starts, count: columns.count)
        attached.sortByUpperHalf()
        rootCount = attached.firstIndexPast { Int32(truncatingIfNeeded: $0 >> 33) - 1 >= base }
        findFirstAttached()
        findDeciding()
    }

    /// The number here; nil: it is not here.
    private func number(_ reference: TextColumns.Reference, _ engine: borrowing TextEngine) -> Int32? {
        if let number = reference.here { return base + Int32(truncatingIfNeeded: number) }
        guard let index = reference.elsewhere else { return -1 }
        let (replica, counter) = columns.elsewhere[index]
        return engine.dots.number(of: counter, by: replicas[Int(replica)]).map { Int32(truncatingIfNeeded: $0) }
    }

    /// Returns the right origin of each run, by run; nil if one is not here.
    private func resolvedOrigins(_ engine: borrowing TextEngine) -> [Int32]? {
        var origins = [Int32](repeating: -1, count: columns.runs.count)
        for index in columns.order {
            let index = Int(index)
            let (parent, origin) = (columns.runs[index].parent, columns.origins[index])
            if origin != .inherited {
                guard let number = number(origin, engine) else { return nil }
                origins[index] = number
            } else if let here = parent.here {
                origins[index] = origins[columns.finder.index(of: Int32(truncatingIfNeeded: here))]
            } else {
                guard let number = number(parent, engine) else { return nil }
                origins[index] = Int32(truncatingIfNeeded: engine.rightOrigin(of: Int(number)))
            }
        }
        return origins
    }

    /// False: a parent is not here.
    private mutating func addHeads(_ origins: [Int32], _ engine: borrowing TextEngine) -> Bool {
        starts.reserveCapacity(columns.runs.count)
        places.reserveCapacity(columns.runs.count)
        rightOrigins.reserveCapacity(columns.runs.count)
        attached.reserveCapacity(columns.runs.count)
        for (index, run) in columns.runs.enumerated() {
            guard let parent = number(run.parent, engine) else { return false }
            let number = base + run.number
            let isLeft = run.side == .left
            if !isLeft, parent >= base, parent == number - 1, origins[index] == rightOrigins[rightOrigins.count - 1] {
                continue
            }
            // What hangs on the left of a scalar is before what hangs on its right.
            let place = UInt64(UInt32(bitPattern: parent + 1)) << 1 | (isLeft ? 0 : 1)
            attached.append(place << 32 | UInt64(starts.count))
            starts.append(number)
            places.append(TextEngine.place(Int(parent), isLeft: isLeft))
            rightOrigins.append(origins[index])
        }
        return true
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

    /// The number behind a head's run.
    private func end(of head: Int) -> Int32 {
        head + 1 < starts.count ? starts[head + 1] : base + Int32(truncatingIfNeeded: columns.count)
    }

    private mutating func findFirstAttached() {
        firstAttached.reserveCapacity(starts.count)
        var index = rootCount
        for start in starts {
            while index < attached.count, parent(index) < start { index += 1 }
            firstAttached.append(Int32(truncatingIfNeeded: index))
        }
        splits = [Int32](repeating: -1, count: attached.count)
    }

    /// The head whose run goes on behind `number`, if one does.
    private func implicitHead(behind number: Int32) -> Int? {
        guard number >= base else { return nil }
        let head = heads.index(of: number)
        return number + 1 < end(of: head) ? head : nil
    }

    private mutating func findDeciding() {
        var start = 0
        while start < attached.count {
            let end = groupEnd(start)
            if !isLeft(start) {
                let implicit = implicitHead(behind: parent(start))
                if end - start > 1 || implicit != nil {
                    var origins = Set((start..<end).map { rightOrigins[head($0)] })
                    if let implicit { origins.insert(rightOrigins[implicit]) }
                    if origins.count > 1 { deciding += origins.filter { $0 >= 0 } }
                }
            }
            start = end
        }
        if deciding.isEmpty { return }
        deciding = Array(Set(deciding)).sorted()
        passed = [Int](repeating: -1, count: deciding.count)
    }

    /// True if no scalar of the engine comes between siblings of these columns.
    private mutating func areFree(_ engine: inout TextEngine) -> Bool {
        var start = 0
        while start < rootCount {
            let end = groupEnd(start)
            let parent = Int(parent(start))
            if parent < 0 {
                guard let isFirst = goFirst(end, &engine) else { return false }
                self.isFirst = isFirst
            } else if end - start > 1 || (isLeft(start) ? engine.hasLeft[parent] : engine.hasRightChild(parent)) {
                return false
            }
            start = end
        }
        return true
    }

    /// Returns true if the pieces that hang from the beginning go before all scalars that are here, false if behind them; nil
    /// if neither.
    private func goFirst(_ end: Int, _ engine: inout TextEngine) -> Bool? {
        guard engine.count > 0 else { return true }
        guard (0..<end).allSatisfy({ rightOrigins[head($0)] < 0 }) else { return nil }
        // Heads are in the order of their dots.
        let (first, last) = (dot(ofHead: head(0)), dot(ofHead: head(end - 1)))
        var isBehind = false
        var isBefore = false
        for index in 0..<engine.heads.count where engine.places[index] == TextEngine.place(-1, isLeft: false) {
            guard engine.rightOrigins[index] < 0 else { return nil }
            let dot = engine.dots.fullDot(of: Int(engine.heads[index]))
            if dot < first { isBehind = true } else if last < dot { isBefore = true } else { return nil }
        }
        return isBehind ? (isBefore ? nil : false) : true
    }

    private func dot(ofHead head: Int) -> Dot {
        let run = columns.runs[columns.finder.index(of: starts[head] - base)]
        return Dot(
            replica: columns.replicas[Int(run.replica)],
            counter: run.counter + UInt64(starts[head] - base - run.number))
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

    /// Nil when something that decides was not passed in time.
    private mutating func walk() -> [Piece]? {
        spans.reserveCapacity(2 * starts.count)
        var pieces: [Piece] = []
        var steps: [Step] = []
        var start = 0
        while start < rootCount {
            let end = groupEnd(start)
            let first = spans.count
            pieceStart = passedCount
            guard arrange(start, end, implicit: nil) != nil else { return nil }
            steps.append(.list(start, end))
            guard walk(&steps) else { return nil }
            pieces.append((start, first..<spans.count))
            start = end
        }
        return passedCount == columns.count ? pieces : nil
    }

    private mutating func walk(_ steps: inout [Step]) -> Bool {
        while let step = steps.popLast() {
            switch step {
            case .list(let start, let end):
                guard start < end else { continue }
                if start < end - 1 { steps.append(.list(start, end - 1)) }
                let head = head(end - 1)
                guard walkBehind(head, Int(firstAttached[head]), &steps) else { return false }
            case .behind(let head, let index):
                guard walkBehind(head, index, &steps) else { return false }
            case .run(let head, let end, let index):
                walkRun(head, end, index, &steps)
            }
        }
        return true
    }

    private mutating func walkBehind(_ head: Int, _ index: Int, _ steps: inout [Step]) -> Bool {
        var index = index
        let tail = end(of: head) - 1
        while index < attached.count, parent(index) <= tail {
            let end = groupEnd(index)
            if isLeft(index) {
                index = end
                continue
            }
            guard let split = arrange(index, end, implicit: parent(index) < tail ? head : nil) else { return false }
            splits[index] = Int32(truncatingIfNeeded: split)
            if split < end {
                // What stands between decides in there, so it is walked first.
                steps.append(.behind(head: head, end))
                steps.append(.list(split, end))
                return true
            }
            index = end
        }
        walkRun(head, tail + 1, index, &steps)
        return true
    }

    /// Passes the scalars before `end`, down to the next place that something is attached to.
    private mutating func walkRun(_ head: Int, _ end: Int32, _ index: Int, _ steps: inout [Step]) {
        guard index > firstAttached[head], end > starts[head] else { return pass(starts[head], end) }
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
            let split = splits[start] < 0 ? index : Int(splits[start])
            if start < split { steps.append(.list(start, split)) }
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
        guard end - start > 1 || implicit != nil else { return end }
        let origins = (start..<end).map { rightOrigins[head($0)] } + (implicit.map { [rightOrigins[$0]] } ?? [])
        if Set(origins).count > 1 {
            // How far each is from the end; the end itself is nearest.
            var distances: [Int32: Int] = [-1: -1]
            for origin in origins where origin >= 0 {
                let index = deciding.firstIndexPast { $0 >= origin }
                guard index < deciding.count, deciding[index] == origin, passed[index] >= pieceStart else { return nil }
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

    private func fill(_ engine: inout TextEngine, _ pieces: [Piece]) {
        engine.reserve(engine.count + columns.count)
        for run in columns.runs {
            engine.dots.append(Int(run.count), counter: run.counter, by: replicas[Int(run.replica)])
        }
        engine.addHeads(starts, places, rightOrigins)
        if engine.siblings.isBuilt { fileSiblings(&engine) }
        engine.arena.append(blanks: columns.count)
        var shown = ShownNumbers(count: columns.count)
        columns.forEachLiveNumber { shown.insert($0) }
        columns.text.withUnsafeBufferPointer { text in
            var source = TextSource(text)
            if !columns.isWhole {
                columns.forEachLiveNumber { source.fill(&engine.arena, Int(base) + $0.lowerBound, $0.count) }
            }
            for piece in pieces {
                let items = items(spans[piece.spans], shown)
                if columns.isWhole {
                    for item in items where item.isShown { source.fill(&engine.arena, item.number, item.count) }
                }
                let place = place(of: piece, &engine)
                engine.tree.insert(items, at: place, engine.arena)
            }
        }
    }

    /// Files the siblings. All are children of new places, or alone.
    private func fileSiblings(_ engine: inout TextEngine) {
        let firstHead = engine.heads.count - starts.count
        for _ in starts { engine.siblings.addHead() }
        var behind: Int?
        for index in attached.indices {
            let head = head(index)
            if index == 0 || place(index) != place(index - 1) {
                behind = index == 0 && parent(0) < 0 && !isFirst ? engine.siblings.last(at: places[head]) : nil
            }
            engine.siblings.insert(firstHead + head, behind: behind, at: places[head])
            behind = firstHead + head
        }
    }

    private func place(of piece: Piece, _ engine: inout TextEngine) -> SpanTree.Place {
        let parent = Int(parent(piece.start))
        if parent < 0 { return isFirst ? engine.tree.firstPlace : engine.tree.lastPlace }
        var place = engine.tree.place(of: parent)
        if !isLeft(piece.start) { place.offset += 1 }
        return place
    }

    private func items(_ spans: ArraySlice<(first: Int32, count: Int32)>, _ shown: ShownNumbers) -> [SpanTree.Item] {
        var items: [SpanTree.Item] = []
        items.reserveCapacity(2 * spans.count)
        for span in spans.reversed() {
            var number = Int(span.first - base)
            let end = number + Int(span.count)
            while number < end {
                let isShown = shown[number]
                let change = shown.firstChange(in: number..<end, from: isShown) ?? end
                items.append(SpanTree.Item(number: Int(base) + number, count: change - number, isShown: isShown))
                number = change
            }
        }
        return items
    }
}
