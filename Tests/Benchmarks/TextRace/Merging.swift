import ReplicatedTypes

/// Several people's work brought together.
enum Merging {
    static func shared(_ path: String, runs: Int) throws {
        let trace = try TraceReader.shared(path)
        let (updates, last) = try writtenApart(trace)
        for form in [Encoding.delta, .document] {
            let bytes = form.bytes(of: last)
            say("shared_bytes", [Double(bytes.count)], "bytes", form: form.rawValue)
            let times = try repeated(runs) {
                var text = ""
                let time = try milliseconds { text = try form.opened(bytes).text.string }
                try expect(text, is: trace.end, "merge")
                return time
            }
            say("shared_merge", times, "ms", form: form.rawValue)
        }
        try oneByOne("shared_each", updates, end: trace.end, runs: runs) { TextEditor(replica: .racer(9_999)) }
    }

    /// Every transaction as its author ships it, typed on a replica that holds just the transaction's past.
    private static func writtenApart(_ trace: SharedTrace) throws -> (updates: [[UInt8]], last: TextEditor) {
        var editors = (0..<trace.agents).map { TextEditor(replica: .racer($0 + 1)) }
        var held = [Set<Int>](repeating: [], count: trace.agents)
        var updates: [[UInt8]?] = []
        for (index, transaction) in trace.transactions.enumerated() {
            let agent = transaction.agent
            var missing: Set<Int> = []
            var openEnds = transaction.parents
            while let parent = openEnds.popLast() {
                guard !held[agent].contains(parent), missing.insert(parent).inserted else { continue }
                openEnds += trace.transactions[parent].parents
            }
            for earlier in missing.sorted() {
                if let update = updates[earlier] { try editors[agent].apply(bytes: update) }
            }
            updates.append(editors[agent].written(transaction.patches, at: index))
            held[agent].formUnion(missing)
            held[agent].insert(index)
        }
        let last = editors[trace.transactions[trace.transactions.count - 1].agent]
        try expect(last.text.string, is: trace.end, "several people")
        return (updates.compactMap { $0 }, last)
    }

    /// All updates, one after the other, into what `start` gives.
    static func oneByOne(
        _ figure: String, _ updates: [[UInt8]], end: String, runs: Int, _ start: () throws -> TextEditor
    ) throws {
        let times = try repeated(runs) {
            var editor = try start()
            var text = ""
            let time = try milliseconds {
                for update in updates { try editor.apply(bytes: update) }
                text = editor.text.string
            }
            try expect(text, is: end, figure)
            return time
        }
        say(figure, times, "ms")
        say(figure + "_us", times.map { $0 * 1e3 / Double(updates.count) }, "µs")
    }

    /// Two replicas start from one text, each is written to alone, then each gets what it lacks.
    static func apart(base: String, left: String, right: String, runs: Int) throws {
        let base = try TraceReader.solo(base).patches
        let left = try TraceReader.solo(left).patches
        let right = try TraceReader.solo(right).patches
        let rows = try repeated(runs) {
            var a = TextEditor(replica: .racer(1))
            a.typeEach(base)
            var b = try TextEditor.opened(a.document.canonicalBytes, as: 2)
            let ofA = a.document.vector
            let ofB = b.document.vector
            a.typeEach(left)
            b.typeEach(right)
            var forA: [UInt8] = []
            var forB: [UInt8] = []
            let make = milliseconds {
                forB = a.delta(since: ofB).canonicalBytes
                forA = b.delta(since: ofA).canonicalBytes
            }
            let merge = try milliseconds {
                try a.join(bytes: forA)
                try b.join(bytes: forB)
            }
            var texts = ("", "")
            let read = milliseconds { texts = (a.text.string, b.text.string) }
            try expect(texts.0, is: texts.1, "apart")
            return (bytes: Double(forA.count + forB.count), make: make, merge: merge, read: merge + read)
        }
        say("apart_bytes", rows.map(\.bytes), "bytes")
        say("apart_make", rows.map(\.make), "ms")
        say("apart_merge", rows.map(\.merge), "ms")
        say("apart_read", rows.map(\.read), "ms")
    }

    /// The same, but what the other wrote comes change by change, as it was typed, into the left one.
    static func apartOneByOne(base: String, left: String, right: String, runs: Int) throws {
        let base = try TraceReader.solo(base).patches
        let left = try TraceReader.solo(left).patches
        var a = TextEditor(replica: .racer(1))
        a.typeEach(base)
        var b = try TextEditor.opened(a.document.canonicalBytes, as: 2)
        a.typeEach(left)
        var updates: [[UInt8]] = []
        for (edit, patch) in try TraceReader.solo(right).patches.enumerated() {
            if let update = b.written(CollectionOfOne(patch), at: edit) { updates.append(update) }
        }
        var merged = a
        try merged.join(b.delta(since: a.document.vector))
        let end = merged.text.string
        let start = a.document.canonicalBytes
        try oneByOne("apart_each", updates, end: end, runs: runs) { try .opened(start) }
    }
}
