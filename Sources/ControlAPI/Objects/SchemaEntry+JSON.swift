extension SchemaEntry {
    /// Reads a schema that a user wants to set: `{"fields":{…},"deletePolicy","indexed":[…],"upsert"}`, each key optional.
    /// Words this version does not know are refused, since they are more likely misspelt than new. Throws `schema_invalid`,
    /// `malformed_json`, `too_large`, `too_deep`.
    public init(setting text: JSONText, of collection: String) throws(ControlError) {
        try NameRule.check(collection, is: .collection)
        let document = try ValueRule.check(text)
        var schema = try Self.read(document)
        guard schema.collection.isEmpty || schema.collection.utf8.elementsEqual(collection.utf8) else {
            throw Self.fault("is one of another collection", hint: "Leave out \"collection\".")
        }
        schema.collection = collection
        try schema.check()
        self = schema
    }

    /// Reads a schema that an agent stored: the same form, with anything a newer agent may have added.
    package init(kept text: JSONText, of collection: String) throws(ControlError) {
        let document: JSONDocument
        do throws(JSONSyntaxError) { document = try JSONDocument(text.bytes) } catch {
            throw ControlError(malformed: error)
        }
        self = try Self.read(document)
        self.collection = collection
        fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func fault(_ words: String, hint: String) -> ControlError {
        ControlError(.schemaInvalid, "The schema \(words).", hint: hint)
    }

    private func check() throws(ControlError) {
        try Self.refuse(others, known: "fields, deletePolicy, indexed, upsert")
        if let deletePolicy, !DeletePolicy.known.contains(deletePolicy) {
            throw Self.fault(
                "has a delete policy that does not exist", hint: "Policies are \(Self.words(DeletePolicy.known)).")
        }
        for field in fields {
            guard FieldType.known.contains(field.type) else {
                throw Self.fault(
                    "gives the field \"\(field.name)\" a type that does not exist",
                    hint: "Types are \(Self.words(FieldType.known)).")
            }
            try Self.refuse(field.others, known: "type, refers")
            guard let target = field.refers else { continue }
            guard field.type.canRefer else {
                throw Self.fault(
                    "lets the field \"\(field.name)\" refer, though a \(field.type.rawValue) holds no ids",
                    hint: "register, constant, set, addOnlySet, list and orderedSet can refer.")
            }
            try NameRule.check(target, is: .collection)
        }
    }

    private static func refuse(_ others: [Other], known: String) throws(ControlError) {
        guard let other = others.first else { return }
        throw fault("has a key \"\(other.key)\" that is not known", hint: "Known are: \(known).")
    }

    private static func words(_ known: [some RawRepresentable<String>]) -> String {
        known.map(\.rawValue).joined(separator: ", ")
    }

    // MARK: Reading

    private static func read(_ document: JSONDocument) throws(ControlError) -> SchemaEntry {
        guard case .object(let members) = document.root.kind else {
            throw fault("is not a JSON object", hint: #"For example {"fields":{"plays":"counter"}}."#)
        }
        var schema = SchemaEntry(collection: "")
        for (key, node) in members {
            switch (key, node.kind) {
            case ("collection", .string): schema.collection = document.string(of: node) ?? ""
            case ("fields", .object(let members)):
                for (name, node) in members { schema.fields.append(try field(name, node, document)) }
            case ("deletePolicy", .string):
                schema.deletePolicy = document.string(of: node).map(DeletePolicy.init(rawValue:))
            case ("indexed", .array(let elements)):
                schema.indexed = elements.compactMap(document.string(of:))
                guard schema.indexed?.count == elements.count else {
                    throw fault("names indexed fields that are no strings", hint: #"Write "indexed":["title"]."#)
                }
            case ("upsert", .bool(let value)): schema.upsert = value
            case ("deletePolicy", .null), ("indexed", .null), ("upsert", .null): break
            case ("collection", _), ("fields", _), ("deletePolicy", _), ("indexed", _), ("upsert", _):
                throw fault(
                    "has a value of the wrong kind for \"\(key)\"",
                    hint: #"Write {"fields":{…},"deletePolicy":"…","indexed":[…],"upsert":true}."#)
            case _: schema.others.append(Other(key: key, value: JSONText(checked: document.text(of: node))))
            }
        }
        return schema
    }

    private static func field(
        _ name: String, _ node: JSONNode, _ document: JSONDocument
    ) throws(ControlError) -> Field {
        if let type = document.string(of: node) { return Field(name: name, type: FieldType(rawValue: type)) }
        let fault = fault(
            "describes the field \"\(name)\" in a way that is not known",
            hint: #"Write "NAME":"TYPE", or "NAME":{"type":"TYPE","refers":"COLLECTION"}."#)
        guard case .object(let members) = node.kind else { throw fault }
        var type: String?
        var field = Field(name: name, type: .register)
        for (key, node) in members {
            switch (key, node.kind) {
            case ("type", .string): type = document.string(of: node)
            case ("refers", .string): field.refers = document.string(of: node)
            case ("refers", .null): break
            case ("type", _), ("refers", _): throw fault
            case _: field.others.append(Other(key: key, value: JSONText(checked: document.text(of: node))))
            }
        }
        guard let type else { throw fault }
        field.type = FieldType(rawValue: type)
        return field
    }

    // MARK: Writing

    /// Writes `{"collection","fields":{…},"deletePolicy","indexed":[…],"upsert"}`; settings that were never set have their
    /// defaults.
    package func write(to writer: inout JSONWriter) {
        var schema = self
        schema.deletePolicy = deletePolicy ?? .deleteWins
        schema.indexed = indexed ?? []
        schema.upsert = upsert ?? true
        schema.writeWhatIsSet(to: &writer)
    }

    /// The schema as it is sent: nil members are left out, and stay as they are.
    package var settingText: JSONText {
        var writer = JSONWriter()
        writeWhatIsSet(to: &writer)
        return JSONText(checked: writer.bytes)
    }

    private func writeWhatIsSet(to writer: inout JSONWriter) {
        writer.raw("{\"collection\":")
        writer.string(collection)
        writer.raw(",\"fields\":{")
        for (index, field) in fields.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.string(field.name)
            writer.byte(UInt8(ascii: ":"))
            Self.write(field, to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
        if let deletePolicy {
            writer.raw(",\"deletePolicy\":")
            writer.string(deletePolicy.rawValue)
        }
        if let indexed {
            writer.raw(",\"indexed\":[")
            for (index, name) in indexed.enumerated() {
                if index > 0 { writer.byte(UInt8(ascii: ",")) }
                writer.string(name)
            }
            writer.byte(UInt8(ascii: "]"))
        }
        if let upsert {
            writer.raw(",\"upsert\":")
            writer.bool(upsert)
        }
        Self.write(others, to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }

    private static func write(_ field: Field, to writer: inout JSONWriter) {
        if field.refers == nil, field.others.isEmpty { return writer.string(field.type.rawValue) }
        writer.raw("{\"type\":")
        writer.string(field.type.rawValue)
        if let target = field.refers {
            writer.raw(",\"refers\":")
            writer.string(target)
        }
        write(field.others, to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }

    private static func write(_ others: [Other], to writer: inout JSONWriter) {
        for other in others {
            writer.byte(UInt8(ascii: ","))
            writer.string(other.key)
            writer.byte(UInt8(ascii: ":"))
            writer.raw(other.value.bytes)
        }
    }
}

extension SchemaEntry: Codable {
    /// Reads an agent's answer, with anything a newer agent may have added.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(JSONText.self)
        let document: JSONDocument
        do throws(JSONSyntaxError) { document = try JSONDocument(text.bytes) } catch {
            throw ControlError(malformed: error)
        }
        self = try Self.read(document)
    }

    /// Writes an agent's answer.
    public func encode(to encoder: any Encoder) throws {
        var writer = JSONWriter()
        write(to: &writer)
        var container = encoder.singleValueContainer()
        try container.encode(JSONText(checked: writer.bytes))
    }
}
