import ReplicatedTypes

/// A text opened from its bytes.
enum Opening {
    /// Bytes → the whole text read, and the first edit after that.
    static func time(_ form: Encoding, file: String, path: String, runs: Int) throws {
        let trace = try TraceReader.solo(path)
        let bytes = try readFile(file)
        let rows = try repeated(runs) {
            var text = ""
            var opened: TextEditor?
            let opening = try milliseconds {
                let editor = try form.opened(bytes)
                text = editor.text.string
                opened = editor
            }
            try expect(text, is: trace.end, "load")
            guard var editor = opened.take() else { preconditionFailure("it was opened") }
            let middle = Patch(position: editor.text.count / 2, deleted: 0, inserted: "x")
            let first = milliseconds { editor.type(CollectionOfOne(middle)) }
            return (opening, first)
        }
        say("load", rows.map(\.0), "ms", form: form.rawValue)
        say("first_edit", rows.map(\.1), "ms", form: form.rawValue)
    }

    static func memory(_ form: Encoding, file: String, path: String) throws {
        let trace = try TraceReader.solo(path)
        let bytes = try readFile(file)
        try Replay.rehearse(trace)
        let before = try residentKiB()
        let editor = try form.opened(bytes)
        try expect(editor.text.string, is: trace.end, "load")
        let held = try residentKiB() - before
        say("memory_load", [held / 1_024], "MiB", form: form.rawValue)
        // Alive until here.
        try expect(editor.text.string, is: trace.end, "load")
    }
}
