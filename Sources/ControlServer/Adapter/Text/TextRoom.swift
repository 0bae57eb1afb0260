import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

/// One text that clients follow and edit: puts their edits and those of other devices in one order.
///
/// An edit names the version it was made against. The room moves it over what was ordered since (`TextTransformation`), and
/// writes it under the condition that the object is as the room knows it. If it is not, the room first takes in what changed.
/// So an edit is applied to just the text that its steps count in, and every reader is told the same edits in the same order.
actor TextRoom {
    /// The number of times that a write is tried while other writes to the object come first.
    private static let tries = 64

    nonisolated let agent: Agent
    private let name: ObjectName
    private let path: FieldPath
    /// Marks the versions of this room; another one, also of the same text later, does not know them.
    private let mark = String(UInt64.random(in: 0 ... .max), radix: 36)

    private var history: TextHistory?
    /// The object's version that the history's text was read at.
    private var version: Dot?
    /// The object's position there. It grows with each change; the version stays where a retirement makes changes void.
    private var position: Int64?
    /// The version of the agent's signal up to which the history is up to date; nil: it may be behind.
    private var seen: UInt64?

    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ agent: Agent, _ name: ObjectName, _ path: FieldPath) {
        self.agent = agent
        self.name = name
        self.path = path
    }

    // MARK: Reading

    /// Returns the whole text and the number of its state. Throws the error that says why the text cannot be read.
    func whole() async throws(ControlError) -> (line: TextLine, number: Int) {
        await take()
        defer { free() }
        let history = try await refreshed()
        return (.text(version: version(history.number), text: history.text), history.number)
    }

    /// Returns the edits behind a state, up to now; empty for none; nil if the reader must begin anew.
    func lines(behind number: Int, unit: TextUnit) async throws(ControlError) -> [TextLine]? {
        await take()
        defer { free() }
        let history = try await refreshed()
        guard let entries = history.entries(behind: number) else { return nil }
        return zip(number + 1..<history.number + 1, entries).map { number, entry in
            .edits(version: version(number), entry.steps(in: unit), key: entry.key)
        }
    }

    // MARK: Editing

    /// Applies an edit; durable on return. Throws `text_version_unknown` and the errors of an edit of the object.
    ///
    /// - Parameter key: the key of the request; an edit whose key is remembered was applied already.
    /// - Returns: a version that contains the edit.
    func apply(_ edits: TextEdits, key: String?) async throws(ControlError) -> String {
        await take()
        defer { free() }
        if key != nil, try await agent.rememberedOutcome() != nil {
            seen = nil
            return version(try await refreshed().number)
        }
        for _ in 0..<Self.tries {
            let history = try await refreshed()
            guard let number = number(edits.version), let since = history.entries(behind: number) else {
                throw .textVersionUnknown
            }
            var steps = edits.edits
            try history.check(steps, in: edits.unit)
            for entry in since {
                steps = TextTransformation.transform(steps, over: entry.steps(in: edits.unit), in: edits.unit).later
            }
            let planned = try history.planned(steps, in: edits.unit, key: key)
            do throws(ControlError) {
                let spans = try await write(planned.entry)
                self.history?.record(planned, spans: spans ?? history.spans)
                return version(number + since.count + 1)
            } catch {
                seen = nil
                guard error.code == .versionMismatch else { throw error }
            }
        }
        throw ControlError(
            .catchingUp, "Other writes to the object came first \(Self.tries) times; the edit was not applied.",
            hint: "Try again; many writes to one object keep its editors waiting.")
    }

    /// Writes an edit to the object as it was when the history was read.
    ///
    /// - Returns: the authors of the text with the edit; nil if nothing had to be written.
    private func write(_ entry: TextHistory.Entry) async throws(ControlError) -> [TextSpan]? {
        var edits: [FieldEdit] = []
        for step in entry.steps(in: .scalars) {
            if step.deleted > 0 {
                edits.append(FieldEdit(path: path.exactKeys, action: .delete(at: step.offset, count: step.deleted)))
            }
            if !step.inserted.isEmpty {
                let value = JSONValue.string(ExactString(step.inserted))
                edits.append(FieldEdit(path: path.exactKeys, action: .insert(at: step.offset, value)))
            }
        }
        guard !edits.isEmpty else { return nil }
        let options = ObjectWrite.EditOptions(ifVersion: version)
        let outcome = try await agent.write([.edit(ObjectKey(name), edits, options)])
        version = outcome.steps.first?.version ?? version
        position = outcome.steps.first?.object?.position
        return outcome.steps.first?.object?.spans(at: path.exactKeys)
    }

    // MARK: Keeping up

    /// Brings the history up to date with the store.
    private func refreshed() async throws(ControlError) -> TextHistory {
        // Read before looking: what is committed after the look is found by the next one.
        let signal = agent.objectSignal.version
        if let history, seen == signal { return history }
        let known = history == nil ? nil : position
        let (text, object) = try await agent.text(of: name, at: path, unless: known)
        (version, position) = (object.version, object.position)
        seen = signal
        if let text { history?.record(changeTo: text) }
        let history = history ?? TextHistory(text ?? StoredText(text: ""))
        self.history = history
        return history
    }

    // MARK: Versions

    private func version(_ number: Int) -> String { "\(number)-\(mark)" }

    private func number(_ version: String) -> Int? {
        let parts = version.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, parts[1] == mark else { return nil }
        return Int(parts[0])
    }

    // MARK: Turns

    /// Waits until no other call is between its reading and its writing.
    private func take() async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
    }

    private func free() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}

extension Agent {
    /// Reads a text that readers see. Throws the error that says why there is none, `type_mismatch` for a field that is none.
    ///
    /// - Parameter known: a position of the object.
    /// - Returns: the text, nil where the object still has the known position; and the object.
    fileprivate func text(
        of name: ObjectName, at path: FieldPath, unless known: Int64?
    ) async throws(ControlError) -> (text: StoredText?, object: StoredObject) {
        try await reading { () throws(ControlError) in
            let object = try shownObject(name)
            if object.position == known { return (nil, object) }
            let schema = try read { () throws(StoreError) in
                try store.schema(of: object.key.collection, space: .home)
            }
            let keys = path.exactKeys
            let kind = schema?[keys[0]]?.kind
            if keys.count == 1, let kind, kind != .replicated(.text) {
                throw .typeMismatch(path.description, is: kind.type?.rawValue ?? "local value")
            }
            switch object.value(at: keys, schema) {
            case nil:
                guard keys.count == 1, kind == .replicated(.text) else { throw .unknownField(path.description) }
                return (StoredText(text: ""), object)
            case .string(let text):
                return (StoredText(text: text.string, spans: object.spans(at: keys)), object)
            case _?: throw .typeMismatch(path.description, is: "value of another type")
            }
        }
    }
}

extension StoredObject {
    /// Returns the authors of the text in a field, letter by letter; nil where it is not one text of one life.
    fileprivate func spans(at path: [ExactString]) -> [TextSpan]? {
        guard path.count == 1, case .live(let births) = state.judgement, births.count == 1,
            let text = state.fields(of: births[0])?[path[0]]?.text
        else { return nil }
        return text.spans
    }
}
