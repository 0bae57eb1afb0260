import ControlAPI
import LanyardClient

/// The steps of one person, which can be undone and done again: each by a new change that reverts this person's part
/// and leaves what others did since.
///
/// ```swift
/// let history = UndoHistory(home)
/// try await history.perform { writes in try writes.save(note) }
/// try await history.undo()
/// ```
///
/// A deleted object cannot be brought back under its id, since other devices have recorded its deletion: undoing creates one
/// with the same fields and a new id, and attaches its attachments from the bytes that are here, so nothing is sent again.
/// References to the old id do not lead to it. Steps are kept in memory, and are done one after the other.
public actor UndoHistory {
    /// The outcome of an undone or repeated step, beside what the objects show.
    public struct Outcome: Sendable {
        /// The ids that objects which are there again have now, by the ids that they had.
        public var renamed: [ObjectID: ObjectID] = [:]
        /// Attachments that are not there again, because their bytes are not on this machine.
        public var missing: [AttachmentEntry] = []
    }

    /// An object before and after a step, as the agent gave its fields; nil where it was not there.
    private struct Change {
        var name: ObjectName
        let type: any LanyardObject.Type
        let before: JSONText?
        let after: JSONText?
        let attachments: [AttachmentEntry]
    }

    private let lanyard: Lanyard
    private let maximumSteps: Int
    private var done: [[Change]] = []
    private var undone: [[Change]] = []

    /// A history without steps.
    ///
    /// - Parameter maximumSteps: the steps that are kept; older ones can no longer be undone.
    public init(_ lanyard: Lanyard, maximumSteps: Int = 100) {
        self.lanyard = lanyard
        self.maximumSteps = maximumSteps
    }

    /// True if there is a step to undo.
    public var canUndo: Bool { !done.isEmpty }
    /// True if there is a step to do again.
    public var canRedo: Bool { !undone.isEmpty }

    /// Does several writes as one change and one step. Events are not undone.
    public func perform(_ body: (inout LanyardTransaction) throws -> Void) async throws {
        await enter()
        defer { leave() }
        var transaction = LanyardTransaction(space: lanyard.space)
        try body(&transaction)
        let changes = try await write(transaction)
        if changes.isEmpty { return }
        done.append(changes)
        if done.count > maximumSteps { done.removeFirst() }
        undone = []
    }

    /// Undoes the last step. Without a step it does nothing. Throws as a save does; the step stays then.
    @discardableResult
    public func undo() async throws(ControlError) -> Outcome {
        await enter()
        defer { leave() }
        guard let step = done.last else { return Outcome() }
        let (reverse, renamed) = try await turnBack(step)
        done.removeLast()
        undone.append(reverse)
        return try await finish(step, renamed)
    }

    /// Does the step again that was undone last, like ``undo()``.
    @discardableResult
    public func redo() async throws(ControlError) -> Outcome {
        await enter()
        defer { leave() }
        guard let step = undone.last else { return Outcome() }
        let (reverse, renamed) = try await turnBack(step)
        undone.removeLast()
        done.append(reverse)
        return try await finish(step, renamed)
    }

    // MARK: Steps

    /// Writes a transaction, and returns what it changed. Each object was still what was read, so that is this step alone.
    private func write(_ transaction: LanyardTransaction) async throws(ControlError) -> [Change] {
        let (results, before) = try await lanyard.perform(transaction, isPinned: true)
        var changes: [Change] = []
        for (write, result) in zip(transaction.writes, results) {
            guard let name = write.name, let type = transaction.objects[name] else { continue }
            let (old, new) = (before[name], result.object)
            if old?.fields == new?.fields { continue }
            changes.append(
                Change(
                    name: name, type: type, before: old?.fields, after: new?.fields,
                    attachments: old?.attachments ?? []))
        }
        return changes
    }

    /// Makes each object of a step differ from what it is now as it did before the step, and returns the step that does the
    /// reverse, and the new names of objects that had to be created anew.
    private func turnBack(
        _ step: [Change]
    ) async throws(ControlError) -> (reverse: [Change], renamed: [ObjectName: ObjectName]) {
        var transaction = LanyardTransaction(space: lanyard.space)
        var renamed: [ObjectName: ObjectName] = [:]
        for change in step {
            switch (change.before, change.after) {
            case (nil, nil): continue
            case (nil, _?): try transaction.append(.delete(change.name), of: change.type)
            case (let before?, nil):
                let name = try ObjectName(collection: change.name.collection, id: ObjectID().text)
                renamed[change.name] = name
                try transaction.append(.create(name, before, otherwise: [], origin: nil), of: change.type)
            case (let before?, let after?):
                // What another device deleted meanwhile stays deleted.
                guard try await lanyard.entry(of: change.name) != nil else { continue }
                let edits = try Self.edits(from: after, to: before, change.type, id: change.name.id)
                try transaction.append(
                    .edit(change.name, edits, version: nil, sent: nil, origin: nil), of: change.type)
            }
        }
        return (try await write(transaction), renamed)
    }

    private static func edits<Object: LanyardObject>(
        from after: JSONText, to before: JSONText, _ type: Object.Type, id: String
    ) throws(ControlError) -> [FieldEdit] {
        let target = try FieldCoding.fields(try FieldCoding.value(type, fields: before, id: id))
        return try FieldEdit.edits(to: target, from: after, type, id: id)
    }

    /// Gives other steps the new names, and objects that are there again their attachments.
    private func finish(
        _ step: [Change], _ renamed: [ObjectName: ObjectName]
    ) async throws(ControlError) -> Outcome {
        rename(&done, renamed)
        rename(&undone, renamed)
        var outcome = Outcome()
        for change in step {
            guard let name = renamed[change.name] else { continue }
            outcome.renamed[ObjectID(change.name.id)] = ObjectID(name.id)
            for attachment in change.attachments.reversed() {
                let record = attachment.record
                do throws(ControlError) {
                    _ = try await lanyard.client.attach(
                        from: record.hash,
                        AttachRequest(
                            to: name, space: lanyard.space, name: record.name, mediaType: record.mediaType))
                } catch {
                    guard error.code == .notFound else { throw error }
                    outcome.missing.append(attachment)
                }
            }
        }
        return outcome
    }

    private func rename(_ steps: inout [[Change]], _ renamed: [ObjectName: ObjectName]) {
        for step in steps.indices {
            for change in steps[step].indices {
                if let name = renamed[steps[step][change].name] { steps[step][change].name = name }
            }
        }
    }

    // MARK: One after the other

    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private func enter() async {
        if isBusy { return await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
    }

    private func leave() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
