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
/// with the same fields and a new id, which is returned, and attaches its attachments from the bytes that are here, so nothing
/// is sent again. Steps are kept in memory.
public actor UndoHistory {
    /// An object before and after a step; nil where it was not there.
    private struct Change {
        var name: ObjectName
        let type: any LanyardObject.Type
        let before: JSONText?
        let after: JSONText?
        var attachments: [AttachmentEntry] = []
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
        var transaction = LanyardTransaction(space: lanyard.space)
        try body(&transaction)
        let changes = try await write(transaction)
        if changes.isEmpty { return }
        done.append(changes)
        if done.count > maximumSteps { done.removeFirst() }
        undone = []
    }

    /// Undoes the last step, and returns the ids that objects which are there again have now, by the ids they had. Without a
    /// step it does nothing. Throws as a save does; the step stays then.
    @discardableResult
    public func undo() async throws(ControlError) -> [ObjectID: ObjectID] {
        guard let step = done.last else { return [:] }
        let (reverse, renamed) = try await turnBack(step)
        done.removeLast()
        undone.append(reverse)
        rename(renamed)
        return Self.ids(renamed)
    }

    /// Does the step again that was undone last, like ``undo()``.
    @discardableResult
    public func redo() async throws(ControlError) -> [ObjectID: ObjectID] {
        guard let step = undone.last else { return [:] }
        let (reverse, renamed) = try await turnBack(step)
        undone.removeLast()
        done.append(reverse)
        rename(renamed)
        return Self.ids(renamed)
    }

    // MARK: Steps

    /// Writes a transaction, and returns what it changed.
    private func write(_ transaction: LanyardTransaction) async throws(ControlError) -> [Change] {
        var changes: [Change] = []
        for (name, type) in transaction.objects.sorted(by: { $0.key < $1.key }) {
            let before = try await fields(of: name, type)
            let attachments = before == nil ? nil : try await entry(of: name)?.attachments
            changes.append(Change(name: name, type: type, before: before, after: nil, attachments: attachments ?? []))
        }
        try await lanyard.perform(transaction)
        var kept: [Change] = []
        for change in changes {
            let after = try await fields(of: change.name, change.type)
            if change.before == after { continue }
            kept.append(
                Change(
                    name: change.name, type: change.type, before: change.before, after: after,
                    attachments: change.attachments))
        }
        return kept
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
            case (nil, _?): transaction.append(.delete(change.name), of: change.type)
            case (let before?, nil):
                let name = try ObjectName(collection: change.name.collection, id: ObjectID().text)
                renamed[change.name] = name
                transaction.append(.create(name, before, origin: nil), of: change.type)
            case (let before?, let after?):
                // What another device deleted meanwhile stays deleted.
                guard let current = try await entry(of: change.name) else { continue }
                let edits = try FieldEdit.edits(from: after, to: before, of: try ObjectType.of(change.type))
                // Version and state belong together: an edit of a text is merged with what is there now.
                transaction.append(
                    .edit(change.name, edits, version: current.version, origin: nil), of: change.type,
                    current: current)
            }
        }
        var reverse = try await write(transaction)
        for change in step {
            guard let name = renamed[change.name] else { continue }
            for attachment in change.attachments.reversed() {
                _ = try await lanyard.client.attach(
                    from: attachment.record.hash,
                    AttachRequest(
                        to: name, space: lanyard.space, name: attachment.record.name,
                        mediaType: attachment.record.mediaType))
            }
        }
        reverse.reverse()
        return (reverse, renamed)
    }

    /// Later steps are about the object under its new name.
    private func rename(_ renamed: [ObjectName: ObjectName]) {
        if renamed.isEmpty { return }
        func rename(_ steps: inout [[Change]]) {
            for step in steps.indices {
                for change in steps[step].indices {
                    if let name = renamed[steps[step][change].name] { steps[step][change].name = name }
                }
            }
        }
        rename(&done)
        rename(&undone)
    }

    private static func ids(_ renamed: [ObjectName: ObjectName]) -> [ObjectID: ObjectID] {
        Dictionary(
            renamed.map { (ObjectID($0.key.id), ObjectID($0.value.id)) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Objects

    /// Returns the fields of an object as its struct writes them; nil where there is none.
    private func fields(of name: ObjectName, _ type: any LanyardObject.Type) async throws(ControlError) -> JSONText? {
        func fields<Object: LanyardObject>(_ type: Object.Type) async throws(ControlError) -> JSONText? {
            guard let object = try await lanyard.object(type, id: ObjectID(name.id)) else { return nil }
            return try FieldCoding.fields(object)
        }
        return try await fields(type)
    }

    /// Returns an object as it is now; nil where there is none.
    private func entry(of name: ObjectName) async throws(ControlError) -> ObjectEntry? {
        do throws(ControlError) { return try await lanyard.client.object(name, space: lanyard.space) } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}
