import ControlAPI
import Synchronization

/// The names of the fields that key paths lead to.
///
/// A stored property is named by the description of its key path (SE-0369). The description of a wrapped one holds no name:
/// its getter is called on a probe, whose wrappers say which of them was read.
enum FieldNames {
    /// Returns the field, and keys below it, that `path` leads to. Throws `invalid_argument` for a computed property.
    static func path<Object: LanyardObject>(_ path: PartialKeyPath<Object>) throws(ControlError) -> FieldPath {
        let root = "\\\(Object.self)."
        let description = path.debugDescription
        guard description.hasPrefix(root) else { throw notStored(path) }
        var rest = description.dropFirst(root.count)
        var keys: [String] = []
        if rest.hasPrefix("<") {
            guard let name = try wrappedName(path), let end = endOfBrackets(rest) else { throw notStored(path) }
            keys.append(name)
            rest = rest[end...]
            guard rest.isEmpty else { throw notStored(path) }
        }
        for part in rest.split(separator: ".") {
            let name = part.filter { $0 != "?" && $0 != "!" }
            guard !name.contains("<") else { throw notStored(path) }
            keys.append(name)
        }
        guard keys.first != FieldCoding.idKey else {
            throw ControlError(
                .invalidArgument, "An object is not found by a condition on its id.",
                hint: "Read it with object(_:id:); lists are in the order of ids unless they are sorted.")
        }
        guard let first = keys.first, try ObjectType.of(Object.self).fields[first] != nil else { throw notStored(path) }
        return try FieldPath(keys: keys)
    }

    private static func notStored<Object>(_ path: PartialKeyPath<Object>) -> ControlError {
        ControlError(
            .invalidArgument, "A key path of \(Object.self) leads to no field of the object.",
            hint: "Use a stored property that is coded under its own name; no computed ones and no subscripts.")
    }

    // MARK: Wrapped properties

    /// A value of each type, and what says which of its wrapped properties was read.
    private struct Probe: Sendable {
        let value: any LanyardObject
        let recorder: FieldRecorder
    }

    private static let probes = Mutex<[ObjectIdentifier: Probe]>([:])

    /// Returns the wrapped field that `path` leads to; nil for any other computed property.
    ///
    /// Only a property that can be set is asked: another getter may do anything, such as taking the first of no elements. It is
    /// the field if it reads one wrapper and has its type.
    private static func wrappedName<Object: LanyardObject>(
        _ path: PartialKeyPath<Object>
    ) throws(ControlError) -> String? {
        guard "\(type(of: path))".hasPrefix("WritableKeyPath") else { return nil }
        let probe = try probe(of: Object.self)
        guard let value = probe.value as? Object else { return nil }
        let valueType = ObjectIdentifier(type(of: path).valueType)
        // One reader at a time: the recorder is shared.
        return probes.withLock { _ in
            probe.recorder.record.withLock { $0.reads = [] }
            _ = value[keyPath: path]
            let reads = probe.recorder.record.withLock(\.reads)
            return reads.count == 1 && reads[0].type == valueType ? reads[0].name : nil
        }
    }

    /// Returns the index behind the bracket that closes the first one; types in between have brackets of their own.
    private static func endOfBrackets(_ text: Substring) -> Substring.Index? {
        var depth = 0
        for index in text.indices {
            if text[index] == "<" { depth += 1 }
            if text[index] == ">" { depth -= 1 }
            if depth == 0 { return text.index(after: index) }
        }
        return nil
    }

    /// Returns the path of a wrapper that stands inside of a nested value; nil for none.
    static func nestedWrapper<Object: LanyardObject>(in type: Object.Type) throws(ControlError) -> String? {
        try probe(of: type).recorder.record.withLock(\.nested)
    }

    private static func probe<Object: LanyardObject>(of type: Object.Type) throws(ControlError) -> Probe {
        if let found = probes.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let recorder = FieldRecorder()
        let value = try FieldCoding.value(
            type, fields: JSONText(checked: Array("{}".utf8)), id: "probe", info: [.fieldRecorder: recorder])
        let probe = Probe(value: value, recorder: recorder)
        probes.withLock { $0[ObjectIdentifier(type)] = probe }
        return probe
    }
}
