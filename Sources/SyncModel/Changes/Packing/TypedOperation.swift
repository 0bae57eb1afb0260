/// An operation that types letters in one place of one text, and nothing else: what is typed next follows from it.
struct TypedOperation {
    /// Longer ones are not looked into: what they say again is a small part of them.
    private static let mostBytes = 1_024

    let text: ExactString
    private let edit: Operation.ObjectEdit
    private let insertion: ObjectFields.Operation

    init?(_ view: OperationView, in bytes: [UInt8]) {
        guard view.kind == Operation.Kind.editObject, view.body.count <= Self.mostBytes,
            case .editObject(let edit) = Operation(view, in: bytes), edit.life != .birth, edit.edits.count == 1,
            case .insert(_, let text)? = edit.edits[0].typing?.edit
        else { return nil }
        self.edit = edit
        self.text = text
        insertion = edit.edits[0]
    }

    /// The text of an operation at `counter` that goes on with this one, if it does, to the byte.
    func text(goingOnWith next: TypedOperation?, at counter: UInt64, as bytes: ArraySlice<UInt8>) -> String.UTF8View? {
        guard let text = next?.text, !text.string.isEmpty, goingOn(with: text, at: counter).elementsEqual(bytes) else {
            return nil
        }
        return text.string.utf8
    }

    /// The bytes of an operation at `counter` that types `text` behind the scalar of the counter before, in the same text.
    func goingOn(with text: ExactString, at counter: UInt64) -> [UInt8] {
        let next = insertion.replacing(.insert(.after(.own(counter - 1), .inherited), text))
        var bytes: [UInt8] = []
        Operation.editObject(Operation.ObjectEdit(object: edit.object, life: edit.life, edits: [next])).append(
            to: &bytes)
        return bytes
    }
}
