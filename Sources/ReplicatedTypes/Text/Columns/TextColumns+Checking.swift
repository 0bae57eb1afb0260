// What makes columns canonical, beyond what reading checks: equal texts have equal bytes.

extension TextColumns {
    /// Refuses any other form of the same text than the one that is written.
    func check(_ contents: TextContents) throws(CodecError) {
        guard count > 0 || !live.isEmpty || !isWhole else { throw .outOfRange(field: "text.count") }
        for index in runs.indices { try check(index) }
        if isWhole {
            for replica in replicas.indices where firstRuns[replica] == firstRuns[replica + 1] {
                throw .outOfRange(field: "replicas")
            }
        }
        guard contents.columns.withUnsafeBufferPointer({ isPackedAsWritten($0) }) else {
            throw .outOfRange(field: "text.packed")
        }
    }

    private func check(_ index: Int) throws(CodecError) {
        let run = runs[index]
        guard run.side == .right, let parent = run.parent.here else { return }
        let number = Int32(truncatingIfNeeded: parent)
        if number == run.number - 1, index > 0 {
            let last = runs[index - 1]
            if last.replica == run.replica, last.counter + UInt64(last.count) == run.counter,
                isSame(origins[index - 1], origins[index])
            {
                throw .outOfRange(field: "text.run")
            }
        }
        // What is inherited is written so; of a parent elsewhere only its holder knows.
        guard run.rightOrigin != .inherited else { return }
        if isSame(origins[finder.index(of: number)], run.rightOrigin) { throw .outOfRange(field: "text.place") }
    }

    private func isPackedAsWritten(_ columns: UnsafeBufferPointer<UInt8>) -> Bool {
        text.withUnsafeBufferPointer { text in
            TextCompression.isWritten(UnsafeBufferPointer(rebasing: columns[packed]), for: text)
        }
    }

    /// Scalars of the text; nil if it is not UTF-8.
    var scalarCount: Int? {
        if text.withUnsafeBufferPointer({ $0.isASCII }) { return text.count }
        guard String(validating: text, as: UTF8.self) != nil else { return nil }
        // Each has one byte that goes on with none.
        return text.reduce(into: 0) { $0 += $1 & 0xc0 == 0x80 ? 0 : 1 }
    }

    /// The number of live scalars of these columns.
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
