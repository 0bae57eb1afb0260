import ReplicatedTypes

/// One person's trace typed into an empty document, and what there is afterwards.
enum Replay {
    /// A change for each edit.
    static func each(_ path: String, runs: Int) throws {
        let trace = try TraceReader.solo(path)
        let times = try repeated(runs) {
            var editor = TextEditor(replica: .racer(1))
            let time = milliseconds { editor.typeEach(trace.patches) }
            try expect(editor.text.string, is: trace.end, "replay")
            return time
        }
        say("replay_each", times, "ms")
    }

    /// One change for all. `replay_typed` is how long it takes until all is typed and can be read.
    static func whole(_ path: String, runs: Int) throws {
        let trace = try TraceReader.solo(path)
        let rows = try repeated(runs) {
            var editor = TextEditor(replica: .racer(1))
            let typing = milliseconds { editor.typeStrokes(trace) }
            try expect(editor.text.string, is: trace.end, "replay")
            let committing = milliseconds { _ = editor.commit(wallMilliseconds: 1_750_000_000_000) }
            return (typing, typing + committing)
        }
        say("replay_whole", rows.map(\.1), "ms")
        say("replay_typed", rows.map(\.0), "ms")
    }

    /// Sizes, and files for `load`. `changes`: the whole history, a change for every thousand edits.
    static func encode(_ path: String, prefix: String) throws {
        let trace = try TraceReader.solo(path)
        var editor = TextEditor(replica: .racer(1))
        editor.typeEach(trace.patches)
        try expect(editor.text.string, is: trace.end, "replay")
        try Encoding.sayAll(editor, prefix: prefix)
        var historian = TextEditor(replica: .racer(1))
        var count = 0
        for start in stride(from: 0, to: trace.patches.count, by: 1_000) {
            let part = trace.patches[start..<min(start + 1_000, trace.patches.count)]
            count += historian.written(part, at: start)?.count ?? 0
        }
        say("bytes", [Double(count)], "bytes", form: "changes")
    }

    static func memory(_ path: String) throws {
        let trace = try TraceReader.solo(path)
        try rehearse(trace)
        let before = try residentKiB()
        var editor = TextEditor(replica: .racer(1))
        editor.typeEach(trace.patches)
        let held = try residentKiB() - before
        try expect(editor.text.string, is: trace.end, "replay")
        say("memory_replay", [held / 1_024], "MiB")
    }

    /// Everything done once with little, so that code which is needed is there before memory is looked at.
    static func rehearse(_ trace: SoloTrace) throws {
        var editor = TextEditor(replica: .racer(1))
        editor.typeEach(trace.patches.prefix(100))
        for form in Encoding.allCases {
            var opened = try form.opened(form.bytes(of: editor))
            _ = opened.text.string
            opened.type(CollectionOfOne(Patch(position: 0, deleted: 0, inserted: "x")))
        }
    }
}

/// The forms in which a text is kept and shipped whole.
enum Encoding: String, CaseIterable {
    /// What an agent keeps: the text, its vector, its replica.
    case document
    /// What a replica gets that holds nothing.
    case delta

    static func sayAll(_ editor: TextEditor, prefix: String) throws {
        for form in allCases {
            let bytes = form.bytes(of: editor)
            try writeFile("\(prefix).\(form)", bytes)
            say("bytes", [Double(bytes.count)], "bytes", form: form.rawValue)
        }
    }

    func bytes(of editor: TextEditor) -> [UInt8] {
        switch self {
        case .document: editor.document.canonicalBytes
        case .delta: editor.delta(since: VersionVector()).canonicalBytes
        }
    }

    func opened(_ bytes: [UInt8]) throws -> TextEditor {
        switch self {
        case .document: return try .opened(bytes)
        case .delta:
            var editor = TextEditor(replica: .racer(9))
            try editor.join(bytes: bytes)
            return editor
        }
    }
}
