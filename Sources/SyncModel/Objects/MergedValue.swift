import Crypto

/// The merged values of one field in several lives; usually there is one life.
///
/// The values of registers stand side by side, sets are united, and counters are added up. Lists and texts follow each other
/// in order of birth; dictionaries are merged key by key. The result is free of dots: equal on all nodes that hold the same.
package struct MergedValue: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// The shown value of a register or constant, then those that contradict it.
        case values([JSONValue])
        case number(Int64)
        /// The elements of a set, sorted; of an ordered set, in its order.
        case elements([JSONValue])
        case list([MergedValue])
        case text(String)
        /// Sorted by key.
        case members([Member])
    }

    package struct Member: Hashable, Sendable {
        package let key: ExactString
        package let value: MergedValue
    }

    package struct Part: Hashable, Sendable {
        package let type: FieldType
        package let content: Content
    }

    /// The parts, one per live type, in the order in which types are preferred when the schema says nothing.
    package let parts: [Part]

    package var isLive: Bool { !parts.isEmpty }

    /// The part that is shown: of the preferred type if that is live.
    package func shown(preferring type: FieldType?) -> Part? {
        parts.first { $0.type == type } ?? parts.first
    }

    package func json(preferring type: FieldType?) -> JSONValue? { shown(preferring: type)?.content.json }
}

extension MergedValue.Content {
    package var json: JSONValue {
        switch self {
        case .values(let values): values.first ?? .null
        case .number(let number): .integer(number)
        case .elements(let elements): .array(elements)
        case .list(let elements): .array(elements.map { $0.json(preferring: nil) ?? .null })
        case .text(let text): .string(ExactString(text))
        case .members(let members):
            .object(
                members.map { member in
                    JSONValue.Member(key: member.key, value: member.value.json(preferring: nil) ?? .null)
                })
        }
    }
}

extension MergedValue {
    /// Appends the value as `ReplicatedValue.appendVisible` does: the merged value of several lives is hashed like that of
    /// one.
    func appendVisible(to bytes: inout [UInt8]) {
        for part in parts {
            bytes.append(part.type.rank + 1)
            switch part.content {
            case .values(let values), .elements(let values):
                bytes.append(varint: UInt64(values.count))
                for value in values { value.append(to: &bytes) }
            case .number(let number): bytes.append(signed: number)
            case .list(let elements):
                bytes.append(varint: UInt64(elements.count))
                for element in elements { element.appendVisible(to: &bytes) }
            case .text(let text): bytes.append(visible: text)
            case .members(let members):
                bytes.append(varint: UInt64(members.count))
                for member in members {
                    member.key.append(to: &bytes)
                    member.value.appendVisible(to: &bytes)
                }
            }
        }
        bytes.append(0)
    }
}

extension ObjectState {
    /// The live fields of what is shown, sorted by name; empty when nothing is.
    package var mergedFields: [MergedValue.Member] {
        guard case .live(let births) = judgement else { return [] }
        return MergedValue.members(births.compactMap(fields(of:)))
    }

    /// The stamp at which the first of the shown lives began; nil if none is shown.
    package var created: Stamp? {
        guard case .live(let births) = judgement else { return nil }
        return lives.lives.lazy.filter { births.contains($0.birth) }.map(\.key.stamp).min()
    }

    /// Returns one merged field; without parts if nothing is shown.
    package func mergedField(_ name: ExactString) -> MergedValue {
        guard case .live(let births) = judgement else { return MergedValue([]) }
        return MergedValue(births.compactMap { fields(of: $0)?[name] })
    }

    /// Returns the value that a reader is shown of one field; nil if it shows nothing.
    package func shownField(_ name: ExactString, preferring type: FieldType?) -> JSONValue? {
        guard case .live(let births) = judgement else { return nil }
        // The usual case without merging lives.
        if births.count == 1 { return fields(of: births[0])?[name]?.json(preferring: type) }
        return mergedField(name).json(preferring: type)
    }

    /// Returns the object's term of the state digest, without its attachments; nil if no reader sees anything of it.
    package func digestTerm(of key: ObjectKey) -> Sum256? {
        var bytes: [UInt8]
        switch judgement {
        case .absent, .deleted: return nil
        case .undecided:
            bytes = Array("lanyard/digest/undecided/v1".utf8)
            key.append(to: &bytes)
        case .live(let births):
            bytes = Array("lanyard/digest/object/v1".utf8)
            key.append(to: &bytes)
            let lives = births.compactMap(fields(of:))
            // The usual case without building what a reader would be shown.
            if lives.count == 1 {
                for (name, value) in lives[0] {
                    name.append(to: &bytes)
                    value.appendVisible(to: &bytes)
                }
            } else {
                for member in MergedValue.members(lives) {
                    member.key.append(to: &bytes)
                    member.value.appendVisible(to: &bytes)
                }
            }
        }
        return Sum256(SHA256.hash(data: bytes))
    }
}
