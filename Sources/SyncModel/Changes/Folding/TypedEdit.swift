// Letters in a text, wherever in an object that is: what typing leaves most of.

extension ReplicatedDictionary where Key == ExactString, Value == ReplicatedValue {
    /// An edit of a text, and the path of the text in the object.
    struct Typing {
        let path: [ExactString]
        let edit: ReplicatedText.Operation
    }
}

extension ObjectFields.Operation {
    /// Nil for anything but letters typed or deleted.
    var typing: ObjectFields.Typing? {
        var path: [ExactString] = []
        var operation = self
        while case .update(let key, let nested) = operation {
            path.append(key)
            switch nested {
            case .dictionary(let inner): operation = inner
            case .text(.insert(let placement, let text)):
                return ObjectFields.Typing(path: path, edit: .insert(placement, text))
            case .text(.delete(let ranges)): return ObjectFields.Typing(path: path, edit: .delete(ranges))
            // An edit of an element keeps the element: that is told by its dot.
            case .text(.create), .text(.revise), .list, .register, .constant, .counter, .set, .addOnlySet, .orderedSet:
                return nil
            }
        }
        return nil
    }

    /// The same place, another edit of the text there.
    func replacing(_ edit: ReplicatedText.Operation) -> ObjectFields.Operation {
        guard case .update(let key, let nested) = self else { return self }
        if case .dictionary(let inner) = nested { return .update(key, .dictionary(inner.replacing(edit))) }
        return .update(key, .text(edit))
    }
}
