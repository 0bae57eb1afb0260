// Taking in what another replica wrote as columns.

extension TextEngine {
    /// Adds the scalars of `columns` that are not here and hides what is known to be deleted.
    ///
    /// Scalars that have no place here, because they name one that is neither here nor there, are left out.
    mutating func join(_ columns: TextColumns, held: VersionVector, theirs: VersionVector) {
        splices = nil
        hideDeleted(columns, theirs)
        endRun()
        guard columns.count > 0 else { return }
        if isNew(columns, held, theirs), TextBuilder.put(columns, into: &self) { return }
        insert(columns, JoinedText(columns), held: held, theirs: theirs)
    }

    /// True if all scalars of `columns` are to be added, and none is here.
    private func isNew(_ columns: TextColumns, _ held: VersionVector, _ theirs: VersionVector) -> Bool {
        guard edits == nil, count + columns.count <= Self.capacity else { return false }
        for (rank, name) in columns.replicas.enumerated() {
            let runs = columns.runs[Int(columns.firstRuns[rank])..<Int(columns.firstRuns[rank + 1])]
            guard let first = runs.first, let last = runs.last else { continue }
            let end = last.counter + UInt64(last.count)
            guard first.counter >= held.next(of: name), end <= theirs.next(of: name) else { return false }
            if let replica = dots.index(of: name),
                dots.holdsAny(of: first.counter, count: Int(end - first.counter), by: replica)
            {
                return false
            }
        }
        return true
    }

    /// Writes down where runs hang that came all at once, and files nothing.
    mutating func addHeads(_ starts: [Int32], _ places: [Int32], _ rightOrigins: [Int32]) {
        for index in starts.indices {
            heads.append(starts[index])
            self.places.append(places[index])
            self.rightOrigins.append(rightOrigins[index])
            isHead.set(Int(starts[index]))
            let parent = Int(places[index] >> 1) - 1
            if parent >= 0 { places[index] & 1 == 1 ? hasLeft.set(parent) : hasRight.set(parent) }
        }
    }

    /// Adds what is not here run by run.
    fileprivate mutating func insert(
        _ columns: TextColumns, _ text: JoinedText, held: VersionVector, theirs: VersionVector
    ) {
        var columns = columns
        columns.resolve()
        let replicas = columns.replicas.map { dots.makeIndex(of: $0) }
        let live = LiveCursor(columns)
        for index in columns.order {
            insert(columns.runs[Int(index)], columns, replicas, text, held, theirs, live)
        }
    }

    /// Hides what `theirs` has seen and does not show.
    private mutating func hideDeleted(_ columns: TextColumns, _ theirs: VersionVector) {
        var deleted: [Range<Int>] = []
        for replica in dots.replicas.indices {
            let next = theirs.next(of: dots.replicas[replica])
            guard next > 0 else { continue }
            var start: UInt64 = 0
            if let rank = columns.replicas.firstIndex(of: dots.replicas[replica]) {
                let first = columns.live.firstIndexPast { Int($0.replica) >= rank }
                for run in columns.live[first...] {
                    guard Int(run.replica) == rank, run.start < next else { break }
                    if start < run.start {
                        dots.forEachStretch(of: replica, in: start..<run.start) { deleted.append($0) }
                    }
                    start = run.end
                }
            }
            if start < next { dots.forEachStretch(of: replica, in: start..<next) { deleted.append($0) } }
        }
        for numbers in deleted { hide(numbers) }
    }

    /// Adds those scalars of a run that are not here.
    private mutating func insert(
        _ run: TextColumns.Run, _ columns: TextColumns, _ replicas: [Int], _ text: JoinedText, _ held: VersionVector,
        _ theirs: VersionVector, _ live: LiveCursor
    ) {
        let replica = replicas[Int(run.replica)]
        guard var parent = number(run.parent, columns, replicas) else { return }
        var isLeft = run.side == .left
        var rightOrigin = Self.none
        if run.rightOrigin == .inherited {
            rightOrigin = self.rightOrigin(of: parent)
        } else {
            guard let number = number(run.rightOrigin, columns, replicas) else { return }
            rightOrigin = number
        }
        if isLeft { rightOrigin = parent }
        // A scalar below `start` that is not here was never a scalar of this text. No peer sends scalars beyond its own
        // vector.
        let name = columns.replicas[Int(run.replica)]
        let (start, end) = (held.next(of: name), theirs.next(of: name))
        var offset = 0
        while offset < Int(run.count) {
            let counter = run.counter + UInt64(offset)
            if let present = dots.number(of: counter, by: replica) {
                parent = present
                isLeft = false
                offset += 1
                continue
            }
            guard counter >= start, counter < end else { return }
            var part = dots.absentCount(from: counter, upTo: Int(run.count) - offset, by: replica)
            part = Int(min(UInt64(part), end - counter))
            guard count + part <= Self.capacity else { return }
            let first = count
            let from = Int(run.number) + offset
            insert(
                ArenaPart(cell: text.cell, number: from, count: part), parent: parent, isLeft: isLeft,
                rightOrigin: rightOrigin, counter: counter, by: replica)
            live.forEachDead(in: from..<from + part) { dead in
                hide(first + dead.lowerBound - from..<first + dead.upperBound - from)
            }
            parent = first + part - 1
            isLeft = false
            offset += part
        }
    }

    /// The number here; nil: it is not here.
    private func number(_ reference: TextColumns.Reference, _ columns: TextColumns, _ replicas: [Int]) -> Int? {
        if let number = reference.here {
            let run = columns.runs[columns.finder.index(of: Int32(truncatingIfNeeded: number))]
            return dots.number(of: run.counter + UInt64(number - Int(run.number)), by: replicas[Int(run.replica)])
        }
        guard let index = reference.elsewhere else { return Self.none }
        let (replica, counter) = columns.elsewhere[index]
        return dots.number(of: counter, by: replicas[Int(replica)])
    }
}

/// The scalars of columns, by number.
private struct JoinedText {
    /// An engine whose numbers are those of the columns; only what it remembers of each scalar is asked for.
    let cell: TextCell

    init(_ columns: TextColumns) {
        guard columns.isWhole else {
            cell = Self.blank(columns)
            columns.text.withUnsafeBufferPointer { text in
                var source = TextSource(text)
                columns.forEachLiveNumber { source.fill(&cell.engine.pointee.arena, $0.lowerBound, $0.count) }
            }
            return
        }
        let built = TextCell()
        if TextBuilder.put(columns, into: &built.engine.pointee) {
            cell = built
            return
        }
        // Scalars come in reading order, which only putting the runs in one by one can tell here.
        cell = Self.blank(columns)
        let read = TextCell(slowly: columns)
        withExtendedLifetime(read) {
            for run in columns.runs {
                let replica = read.engine.pointee.dots.index(of: columns.replicas[Int(run.replica)])
                guard let replica else { continue }
                for offset in 0..<Int(run.count) {
                    let number = read.engine.pointee.dots.number(of: run.counter + UInt64(offset), by: replica)
                    if let number {
                        cell.engine.pointee.arena.fill(
                            Int(run.number) + offset, with: read.engine.pointee.arena[number])
                    }
                }
            }
        }
    }

    init(blank columns: TextColumns) { cell = Self.blank(columns) }

    private static func blank(_ columns: TextColumns) -> TextCell {
        let cell = TextCell()
        withExtendedLifetime(cell) { cell.engine.pointee.arena.append(blanks: columns.count) }
        return cell
    }
}

extension TextCell {
    /// The text of whole columns.
    convenience init(_ columns: TextColumns) {
        self.init()
        if !TextBuilder.put(columns, into: &engine.pointee) { insert(slowly: columns) }
    }

    fileprivate convenience init(slowly columns: TextColumns) {
        self.init()
        insert(slowly: columns)
    }

    /// Puts the runs in one by one, and then the scalars, which come in reading order.
    private func insert(slowly columns: TextColumns) {
        let text = JoinedText(blank: columns)
        engine.pointee.insert(columns, text, held: VersionVector(), theirs: columns.vector)
        let engine = engine
        columns.text.withUnsafeBufferPointer { utf8 in
            var source = TextSource(utf8)
            var shown: [(number: Int, count: Int)] = []
            engine.pointee.tree.forEachItem { if $0.isShown { shown.append(($0.number, $0.count)) } }
            for item in shown { source.fill(&engine.pointee.arena, item.number, item.count) }
        }
        engine.pointee.tree.recount(engine.pointee.arena)
    }
}

/// The live ones among ascending numbers.
private struct LiveCursor {
    private let live: [Range<Int>]

    init(_ columns: TextColumns) {
        var live: [Range<Int>] = []
        columns.forEachLiveNumber { numbers in
            if let last = live.last, last.upperBound == numbers.lowerBound {
                live[live.count - 1] = last.lowerBound..<numbers.upperBound
            } else {
                live.append(numbers)
            }
        }
        self.live = live
    }

    /// The parts of `range` that do not live.
    func forEachDead(in range: Range<Int>, _ body: (Range<Int>) -> Void) {
        var number = range.lowerBound
        var index = live.firstIndexPast { $0.upperBound > number }
        while number < range.upperBound {
            let next = index < live.count ? min(live[index].lowerBound, range.upperBound) : range.upperBound
            if number < next { body(number..<next) }
            guard index < live.count else { return }
            number = max(number, live[index].upperBound)
            index += 1
        }
    }
}
