import ReplicatedTypes

/// The last thousand edits of a trace: shipped at once, and typed live.
enum LastEdits {
    /// As the state that the receiver lacks, and as one change of operations: the two ways in which edits are shipped.
    static func delta(_ path: String, runs: Int) throws {
        try delta(path, runs: runs, form: "state") { source, held, target in
            var bytes: [UInt8] = []
            let make = milliseconds { bytes = source.delta(since: held).canonicalBytes }
            return (bytes.count, make, try milliseconds { try target.join(bytes: bytes) })
        }
        try delta(path, runs: runs, form: "change") { source, _, target in
            var bytes: [UInt8] = []
            let make = milliseconds { bytes = source.written([]) ?? [] }
            return (bytes.count, make, try milliseconds { try target.apply(bytes: bytes) })
        }
    }

    private static func delta(
        _ path: String, runs: Int, form: String,
        _ ship: (inout TextEditor, VersionVector, inout TextEditor) throws -> (bytes: Int, make: Double, apply: Double)
    ) throws {
        let trace = try TraceReader.solo(path)
        let rows = try repeated(runs) {
            var source = TextEditor(replica: .racer(1))
            source.type(trace.head)
            let held = source.document.vector
            var target = try TextEditor.opened(source.document.canonicalBytes, as: 9)
            _ = target.text.string
            if form == "state" { source.typeEach(trace.tail) } else { for patch in trace.tail { source.type(patch) } }
            let shipped = try ship(&source, held, &target)
            var text = ""
            let read = milliseconds { text = target.text.string }
            try expect(text, is: trace.end, "delta")
            return (shipped, read)
        }
        say("delta_bytes", rows.map { Double($0.0.bytes) }, "bytes", form: form)
        say("delta_make", rows.map(\.0.make), "ms", form: form)
        say("delta_apply", rows.map(\.0.apply), "ms", form: form)
        say("delta_apply_read", rows.map { $0.0.apply + $0.1 }, "ms", form: form)
    }

    /// Each edit typed, committed, encoded, and taken in by another replica; and the typing alone.
    static func live(_ path: String, runs: Int) throws {
        let trace = try TraceReader.solo(path)
        var start = TextEditor(replica: .racer(1))
        start.type(trace.head)
        let bytes = start.document.canonicalBytes
        let rows = try repeated(runs) { try Self.live(trace, from: bytes) }
        say("live_p50", rows.map { percentile($0.times, 50) }, "µs")
        say("live_p99", rows.map { percentile($0.times, 99) }, "µs")
        say("live_bytes", rows.map(\.bytes), "bytes")
        let bare = try repeated(runs) { try Self.bare(trace, from: bytes) }
        say("edit_p50", bare.map { percentile($0, 50) }, "µs")
        say("edit_p99", bare.map { percentile($0, 99) }, "µs")
    }

    private static func live(_ trace: SoloTrace, from start: [UInt8]) throws -> (times: [Double], bytes: Double) {
        var source = try TextEditor.opened(start)
        var target = try TextEditor.opened(start, as: 9)
        _ = source.text.string
        _ = target.text.string
        var times: [Double] = []
        var count = 0
        for (edit, patch) in trace.tail.enumerated() {
            times.append(
                try milliseconds {
                    guard let bytes = source.written(CollectionOfOne(patch), at: edit) else { return }
                    try target.apply(bytes: bytes)
                    count += bytes.count
                } * 1e3)
        }
        try expect(target.text.string, is: trace.end, "live")
        return (times, Double(count) / Double(trace.tail.count))
    }

    private static func bare(_ trace: SoloTrace, from start: [UInt8]) throws -> [Double] {
        var editor = try TextEditor.opened(start)
        _ = editor.text.string
        var times: [Double] = []
        for patch in trace.tail { times.append(milliseconds { editor.type(patch) } * 1e3) }
        try expect(editor.text.string, is: trace.end, "edits")
        return times
    }
}
