// What makes columns canonical, beyond what reading checks: equal texts have equal bytes.

extension TextColumns {
    /// Refuses any other form of the same text than the one that is written.
    func check(_ contents: TextContents) throws(CodecError) {
        guard count > 0 || !live.isEmpty || !isWhole else { throw .outOfRange(field: "text.count") }
        var isUsed = [Bool](repeating: false, count: replicas.count)
        guard let order = causalOrder() else { throw .outOfRange(field: "text.place") }
        let origins = resolvedRightOrigins(order)
        for index in runs.indices {
            isUsed[Int(runs[index].replica)] = true
            try check(index, origins)
        }
        for run in live { isUsed[Int(run.replica)] = true }
        if isWhole, isUsed.contains(false) { throw .outOfRange(field: "replicas") }
        try checkText(contents)
    }

    private func check(_ index: Int, _ origins: [RightOrigin]) throws(CodecError) {
        let run = runs[index]
        guard run.side == .right else { return }
        if case .here(let parent) = run.parent, index > 0 {
            let last = runs[index - 1]
            if last.replica == run.replica, last.number + last.count - 1 == parent,
                last.counter + UInt64(last.count) == run.counter, origins[index - 1] == origins[index]
            {
                throw .outOfRange(field: "text.run")
            }
        }
        // What is inherited is written so; of a parent elsewhere only its holder knows.
        guard run.rightOrigin != .inherited, case .here(let parent) = run.parent else { return }
        if origins[runIndex(of: parent)] == run.rightOrigin { throw .outOfRange(field: "text.place") }
    }

    /// The run that holds a scalar of these columns.
    func runIndex(of number: Int32) -> Int { runs.firstIndexPast { $0.number > number } - 1 }

    /// The right origin of each run, what is inherited looked up; it stays inherited where only the holder of an earlier
    /// scalar knows.
    func resolvedRightOrigins(_ order: [Int]) -> [RightOrigin] {
        var origins = [RightOrigin](repeating: .inherited, count: runs.count)
        for index in order {
            let run = runs[index]
            origins[index] = run.rightOrigin
            guard run.rightOrigin == .inherited else { continue }
            switch run.parent {
            case .root: origins[index] = .end
            case .here(let parent): origins[index] = origins[runIndex(of: parent)]
            case .elsewhere: break
            }
        }
        return origins
    }

    private func checkText(_ contents: TextContents) throws(CodecError) {
        guard let scalars = scalarCount else { throw .outOfRange(field: "text.utf8") }
        guard scalars == liveHere else { throw .outOfRange(field: "text.count") }
        // The packed form is ours or none.
        let packed = text.withUnsafeBufferPointer { TextCompression.compress($0) }
        var end: [UInt8] = []
        end.append(varint: UInt64(text.count))
        if packed.count < text.count {
            end.append(varint: UInt64(packed.count))
            end += packed
        } else {
            end.append(0)
            end += text
        }
        guard contents.columns[textPosition...].elementsEqual(end) else { throw .outOfRange(field: "text.packed") }
    }

    /// Scalars of the text; nil if it is not UTF-8.
    var scalarCount: Int? {
        if text.withUnsafeBufferPointer({ $0.isASCII }) { return text.count }
        var decoder = UTF8()
        var bytes = text.makeIterator()
        var count = 0
        while true {
            switch decoder.decode(&bytes) {
            case .scalarValue: count += 1
            case .emptyInput: return count
            case .error: return nil
            }
        }
    }

    /// How many scalars of these columns live.
    var liveHere: Int {
        var sum = 0
        forEachLiveNumber { sum += $0.count }
        return sum
    }

    /// The numbers that live, as ranges, ascending.
    func forEachLiveNumber(_ body: (Range<Int>) -> Void) {
        var index = 0
        for run in runs {
            let end = run.counter + UInt64(run.count)
            while index < live.count,
                live[index].replica < run.replica
                    || live[index].replica == run.replica && live[index].end <= run.counter
            {
                index += 1
            }
            var current = index
            while current < live.count, live[current].replica == run.replica, live[current].start < end {
                let low = max(live[current].start, run.counter)
                let high = min(live[current].end, end)
                let first = Int(run.number) + Int(low - run.counter)
                body(first..<first + Int(high - low))
                current += 1
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Eight bytes at a time.
    var isASCII: Bool {
        guard let baseAddress else { return true }
        var bits: UInt64 = 0
        var index = 0
        while index + 8 <= count {
            bits |= UnsafeRawPointer(baseAddress + index).loadUnaligned(as: UInt64.self)
            index += 8
        }
        while index < count {
            bits |= UInt64(baseAddress[index])
            index += 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
