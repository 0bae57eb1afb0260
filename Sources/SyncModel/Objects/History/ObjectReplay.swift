/// Applies the operations on an object again, change by change, and returns what each changed for a reader.
///
/// The cost of a change depends on what it touches: an edit of a text is returned as its steps, without reading the text.
/// Only what concerns the object as a whole (creation, deletion, several lives at once) is found by reading all fields before
/// and after.
package struct ObjectReplay: Sendable {
    package private(set) var state = ObjectState()
    private let schema: CollectionSchema?
    private let members: MemberFacts

    package init(schema: CollectionSchema?, members: MemberFacts, from beginning: ObjectBeginning? = nil) {
        self.schema = schema
        self.members = members
        state = beginning?.state ?? ObjectState()
    }

    /// Returns what a reader sees by now: fields in the order of their names, as if all of them had just arrived.
    ///
    /// - Parameter path: As in `redo`.
    package func shown(path: [ExactString]? = nil) -> Told {
        let nothing = ObjectState()
        return Told(
            fields: ShownDifference.between(nothing.shownFields(schema), state.shownFields(schema), path: path)
                .compactMap { FieldChange($0, path: path) },
            attachments: path == nil ? AttachmentChange.between([], state.shownAttachments) : [])
    }

    /// The changes that a reader sees.
    package struct Told: Hashable, Sendable {
        /// The changed fields, in the order of their names.
        package internal(set) var fields: [FieldChange]
        /// The changed attachments; empty if only a field was asked for.
        package internal(set) var attachments: [AttachmentChange]
    }

    /// Does a change again without a look at what it does.
    /// - Returns: whether any of it counted.
    @discardableResult
    package mutating func skip(_ change: ObjectPast.Change) -> Bool {
        var counts = false
        for operation in change.operations {
            let outcome = state.apply(
                operation.action, at: operation.origin, wallMilliseconds: operation.wallMilliseconds, members: members,
                earlier: { [] })
            switch outcome {
            case .applied: counts = true
            case .droppedWhileDeleted, .unknownLife, .void, .repeated: break
            }
        }
        return counts
    }

    /// Does a change again.
    ///
    /// - Parameter path: only of the field, or what is below it; nil: of all fields, and of attachments.
    /// - Returns: nil when nothing of it counted.
    package mutating func redo(_ change: ObjectPast.Change, path: [ExactString]? = nil) -> Told? {
        let attached = path == nil ? state.shownAttachments : []
        let fields: [FieldChange]
        if let life = onlyLife(editedBy: change) {
            guard let changes = redo(change, in: life, path) else { return nil }
            fields = changes
        } else {
            let before = state.shownFields(schema)
            guard skip(change) else { return nil }
            fields = ShownDifference.between(before, state.shownFields(schema), path: path)
                .compactMap { FieldChange($0, path: path) }
        }
        let left = path == nil ? state.shownAttachments : []
        return Told(fields: fields, attachments: AttachmentChange.between(attached, left))
    }

    /// The fields that an edit names where nothing that is shown changed, as they read now: a value that was set to itself, or one
    /// that another type hides.
    package func unchangedFields(of change: ObjectPast.Change) -> [FieldChange] {
        var names: Set<ExactString> = []
        for operation in change.operations {
            guard case .edit(_, let edits) = operation.action else { continue }
            for edit in edits {
                switch edit {
                case .update(let field, _), .remove(let field, _): names.insert(field)
                case .create: break
                }
            }
        }
        return names.sorted().filter { schema?[$0]?.kind != .local }.map { field in
            let value = state.shownValue(at: [field], schema)
            return FieldChange(field: field, content: .value(old: value, new: value))
        }
    }

    // MARK: Edits of one life

    /// Returns the life that the change edits, if it alone is shown and no deletion ends it. Then its edits say nothing for
    /// or against deletions, and the shown lives stay the same.
    private func onlyLife(editedBy change: ObjectPast.Change) -> Dot? {
        guard case .live(let births) = state.judgement, births.count == 1,
            let life = state.lives.lives.first(where: { $0.birth == births[0] }),
            !state.lives.deletions.contains(where: { $0.ends(life) })
        else { return nil }
        for operation in change.operations {
            guard let reference = operation.action.life, reference != .birth,
                reference.birth(at: operation.origin) == life.birth
            else { return nil }
        }
        return life.birth
    }

    /// A field before a change that edits it.
    private struct Look {
        let field: ExactString
        /// The value as a reader saw it before; nil for a text.
        let before: JSONValue?
        let isText: Bool
    }

    private mutating func redo(
        _ change: ObjectPast.Change, in life: Dot, _ path: [ExactString]?
    ) -> [FieldChange]? {
        let looks = looks(at: change, life, path)
        for look in looks where look.isText { changeText(look.field, in: life) { $0.recordEdits() } }
        let counts = skip(change)
        var changes: [FieldChange] = []
        for look in looks {
            let content: FieldChange.Content
            if look.isText {
                var edits: [TextEdit] = []
                changeText(look.field, in: life) { edits = $0.takeRecordedEdits().joined }
                guard !edits.isEmpty else { continue }
                if isShownAsText(look.field, in: life) {
                    content = .text(edits)
                } else {
                    // Nothing is left of it, or what it hid shows now.
                    let after = value(of: look.field, in: life, path)
                    content = .value(old: .text(edits.undone(on: "")), new: after)
                }
            } else {
                let after = value(of: look.field, in: life, path)
                guard look.before != after else { continue }
                content = .value(old: look.before, new: after)
            }
            changes.append(FieldChange(field: look.field, content: content))
        }
        return counts ? changes : nil
    }

    private func looks(at change: ObjectPast.Change, _ life: Dot, _ path: [ExactString]?) -> [Look] {
        // What is edited as anything but a text may become something else.
        var isOnlyText: [ExactString: Bool] = [:]
        for operation in change.operations {
            guard case .edit(_, let edits) = operation.action else { continue }
            for edit in edits {
                switch edit {
                case .update(let field, .text): isOnlyText[field] = isOnlyText[field] ?? true
                case .update(let field, _), .remove(let field, _): isOnlyText[field] = false
                case .create: break
                }
            }
        }
        let isWhole = (path?.count ?? 1) == 1
        return isOnlyText.keys.sorted().compactMap { field in
            guard path.map({ $0.first == field }) ?? true, schema?[field]?.kind != .local else { return nil }
            let isText = isWhole && isOnlyText[field] == true && isShownAsText(field, in: life)
            return Look(field: field, before: isText ? nil : value(of: field, in: life, path), isText: isText)
        }
    }

    private func isShownAsText(_ field: ExactString, in life: Dot) -> Bool {
        state.fields(of: life)?[field]?.shownType(preferring: schema?[field]?.kind.type) == .text
    }

    private func value(of field: ExactString, in life: Dot, _ path: [ExactString]?) -> JSONValue? {
        let value = state.fields(of: life)?[field]?.json(preferring: schema?[field]?.kind.type)
        return value?.value(at: (path ?? []).dropFirst())
    }

    private mutating func changeText(
        _ field: ExactString, in life: Dot, _ body: (inout ReplicatedText) -> Void
    ) {
        state.changeFields(of: life) { fields in fields.change(field) { $0.changeText(body) } }
    }
}
