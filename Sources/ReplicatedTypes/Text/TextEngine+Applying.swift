// Operations as they travel: places are named by dots.

extension TextEngine {
    /// Puts a text where its author did. Void when it names a scalar that its author cannot have seen, or that is none, or
    /// when one of its dots is here: on every replica alike, since what the author had seen is applied before.
    mutating func apply(_ placement: Placement, _ text: ExactString, at origin: Origin) {
        apply(placement, text.string, text.string.unicodeScalars.count, at: origin)
    }

    /// False: it is void.
    @discardableResult
    private mutating func apply(
        _ placement: Placement, _ scalars: some Scalars, _ length: Int, at origin: Origin
    ) -> Bool {
        let (end, overflow) = origin.dot.counter.addingReportingOverflow(UInt64(length))
        guard length > 0, !overflow, end <= Limits.counters, count + length <= Self.capacity else { return false }
        var parent = Self.none
        var isLeft = false
        var rightOrigin = Self.none
        switch placement {
        case .before(let reference):
            guard let next = seen(reference, at: origin) else { return false }
            (parent, isLeft, rightOrigin) = (next, true, next)
        case .after(let reference, let following):
            if let reference {
                guard let previous = seen(reference, at: origin) else { return false }
                parent = previous
            }
            switch following {
            case .inherited: rightOrigin = self.rightOrigin(of: parent)
            case .end: break
            case .node(let reference):
                guard let next = seen(reference, at: origin) else { return false }
                rightOrigin = next
            }
        }
        let known = dots.index(of: origin.dot.replica)
        if let known, dots.holdsAny(of: origin.dot.counter, count: length, by: known) { return false }
        insert(
            scalars, parent: parent, isLeft: isLeft, rightOrigin: rightOrigin, counter: origin.dot.counter,
            by: known ?? dots.makeIndex(of: origin.dot.replica))
        return true
    }

    /// Applies a revision. The deleted earlier scalars are hidden first. Then each run is put in, void or not, like an
    /// insertion; scalars that are deleted again are never shown.
    mutating func apply(_ revision: TextRevision, at origin: Origin) {
        apply(revision.deleted, at: origin)
        guard origin.dot.counter <= Limits.counters - UInt64(revision.count) else { return }
        let scalars = revision.scalars
        var gone = revision.gone[...]
        var start = 0
        for run in revision.runs {
            let (first, end) = (count, start + run.count)
            var watched: [TextEdit]?
            swap(&watched, &edits)
            let isIn = apply(run.placement, scalars[start..<end], run.count, at: origin.advanced(by: UInt64(start)))
            var shown: [Range<Int>] = []
            var offset = start
            while let next = gone.first, next.lowerBound < end {
                let part = next.clamped(to: start..<end)
                shown.appendMerging(offset..<part.lowerBound)
                if isIn { hide(first + part.lowerBound - start..<first + part.upperBound - start) }
                offset = part.upperBound
                if next.upperBound > end { break }
                gone = gone.dropFirst()
            }
            shown.appendMerging(offset..<end)
            swap(&watched, &edits)
            if isIn, edits != nil {
                for part in shown {
                    recordInserted(first + part.lowerBound - start..<first + part.upperBound - start)
                }
            }
            start = end
        }
    }

    /// The scalar that the author of `origin` means, if it can have seen it.
    private func seen(_ reference: DotReference, at origin: Origin) -> Int? {
        switch reference {
        case .own(let counter):
            guard counter < origin.dot.counter, let replica = dots.index(of: origin.dot.replica) else { return nil }
            return dots.number(of: counter, by: replica)
        case .other(let dot): return origin.knows(dot) ? dots.number(of: dot) : nil
        }
    }

    /// Hides the scalars of these ranges that the author of `origin` can have seen. A range may claim any count, and ranges
    /// may overlap, although no honest author writes such ranges: the work is bounded by the scalars that are here.
    mutating func apply(_ ranges: [DotRange], at origin: Origin) {
        var known: [(replica: Int, start: UInt64, end: UInt64)] = []
        for range in ranges {
            let first = range.first.dot(by: origin.dot.replica)
            let (sum, overflow) = first.counter.addingReportingOverflow(range.count)
            let seen = first.replica == origin.dot.replica ? origin.dot.counter : origin.context.next(of: first.replica)
            let end = min(overflow ? .max : sum, seen)
            guard let replica = dots.index(of: first.replica), first.counter < end else { continue }
            known.append((replica, first.counter, end))
        }
        if known.count > 1 { known.sort { ($0.replica, $0.start) < ($1.replica, $1.start) } }
        var done: (replica: Int, end: UInt64) = (-1, 0)
        for range in known {
            let start = range.replica == done.replica ? max(range.start, done.end) : range.start
            if start < range.end {
                hide(range.replica, start..<range.end)
                done = (range.replica, range.end)
            }
        }
    }

    /// Hides all that the author of `origin` had seen.
    mutating func hideAll(knownTo origin: Origin) {
        let takesAll = origin.faults.contains(.textRemovalTakesAll)
        for replica in dots.replicas.indices {
            let name = dots.replicas[replica]
            let known = name == origin.dot.replica ? origin.dot.counter : origin.context.next(of: name)
            hide(replica, 0..<(takesAll ? .max : known))
        }
    }

    private mutating func hide(_ replica: Int, _ counters: Range<UInt64>) {
        var numbers: [Range<Int>] = []
        dots.forEachStretch(of: replica, in: counters) { numbers.append($0) }
        for numbers in numbers { hide(numbers) }
    }
}
