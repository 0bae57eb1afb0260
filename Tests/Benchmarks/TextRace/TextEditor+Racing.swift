import ReplicatedTypes

extension ReplicaID {
    /// A replica with an id like those of devices: bytes without a pattern, in the order of their numbers.
    static func racer(_ number: Int) -> ReplicaID {
        var bytes: [UInt8] = []
        let head = 0x4000_0000 + number * 1_000_003
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: head >> shift)) }
        var mixed = UInt64(number) &+ 0x9e37_79b9_7f4a_7c15
        while bytes.count < DeviceID.byteCount {
            mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed ^= mixed >> 27
            bytes.append(UInt8(truncatingIfNeeded: mixed))
        }
        guard let device = DeviceID(bytes: bytes) else { preconditionFailure("a device id has 32 bytes") }
        return ReplicaID(device: device, incarnation: 1)
    }
}

/// What the race does with the engine; everything goes through its public interface.
extension TextEditor {
    typealias Change = DocumentChange<ReplicatedText.Operation>
    typealias Delta = DocumentDelta<TextContents>

    /// Somebody types five times a second. Only stamps depend on it.
    private static var start: Int64 { 1_750_000_000_000 }
    private static func wall(_ edit: Int) -> Int64 { start + Int64(edit) * 200 }

    mutating func type(_ patch: Patch) {
        if patch.deleted > 0 { remove(patch.position..<patch.position + patch.deleted) }
        if let keystroke = patch.keystroke {
            insert(keystroke, at: patch.position)
        } else if !patch.inserted.isEmpty {
            insert(patch.inserted, at: patch.position)
        }
    }

    /// All of it, nothing committed.
    mutating func typeStrokes(_ trace: SoloTrace) {
        for stroke in trace.strokes {
            let position = Int(stroke.position)
            if stroke.deleted > 0 { remove(position..<position + Int(stroke.deleted)) }
            if stroke.keystroke > 0, let keystroke = Unicode.Scalar(stroke.keystroke) {
                insert(keystroke, at: position)
            } else if stroke.text >= 0 {
                insert(trace.texts[Int(stroke.text)], at: position)
            }
        }
    }

    /// As one change.
    mutating func type(_ patches: some Sequence<Patch>) {
        for patch in patches { type(patch) }
        _ = commit(wallMilliseconds: Self.start)
    }

    /// A change for each edit.
    mutating func typeEach(_ patches: some Sequence<Patch>) {
        var edit = 0
        for patch in patches {
            type(patch)
            _ = commit(wallMilliseconds: Self.wall(edit))
            edit += 1
        }
    }

    /// As one change, as it is shipped; nil for edits that change nothing.
    mutating func written(_ patches: some Sequence<Patch>, at edit: Int = 0) -> [UInt8]? {
        for patch in patches { type(patch) }
        return commit(wallMilliseconds: Self.wall(edit))?.canonicalBytes
    }

    mutating func apply(bytes: [UInt8]) throws { try apply(Change(canonicalBytes: bytes)) }

    mutating func join(bytes: [UInt8]) throws { try join(Delta(canonicalBytes: bytes)) }

    /// A document that was kept, opened by the replica that wrote it.
    static func opened(_ bytes: [UInt8]) throws -> TextEditor {
        TextEditor(try Document<ReplicatedText>(ownBytes: bytes))
    }

    /// The same, to go on with as another replica.
    static func opened(_ bytes: [UInt8], as number: Int) throws -> TextEditor {
        TextEditor(try Document<ReplicatedText>(canonicalBytes: bytes).forked(as: .racer(number)))
    }
}
