extension ObjectPut {
    /// Reads an object that is given without its id: a line of `lanyard put COLLECTION -`.
    ///
    /// It is a JSON object of fields. Its member `id`, if there is one, is a string and names the object; it is not a
    /// field. A whole object as `lanyard get` prints it (exactly `id`, `collection`, `fields`, `version`, and maybe
    /// `attachments`, which stay as they are) is taken as that object, so that what was listed can be put again.
    /// Throws as the other initializer, and `invalid_argument` for an `id` that is no string or a `collection` that is
    /// another.
    public init(line: JSONText, collection: String) throws(ControlError) {
        try NameRule.check(collection, is: .collection)
        let document = try ValueRule.checkFields(line)
        guard case .object(let members) = document.root.kind, let id = members.first(where: { $0.key == "id" }) else {
            self.init(collection: collection, id: nil, checked: line)
            return
        }
        guard let name = document.string(of: id.value) else {
            throw ControlError(
                .invalidArgument, "The member \"id\" names the object and must be a string.",
                hint: "Write it in quotes, or leave it out for a fresh id.")
        }
        try NameRule.check(name, is: .id)
        if let fields = try Self.fields(ofEntry: members, document, collection) {
            self.init(collection: collection, id: name, checked: fields)
            return
        }
        var writer = JSONWriter(capacity: line.bytes.count)
        writer.byte(UInt8(ascii: "{"))
        for member in members where member.key != "id" {
            if writer.bytes.count > 1 { writer.byte(UInt8(ascii: ",")) }
            writer.string(member.key)
            writer.byte(UInt8(ascii: ":"))
            writer.raw(document.text(of: member.value))
        }
        writer.byte(UInt8(ascii: "}"))
        self.init(collection: collection, id: name, checked: JSONText(checked: writer.bytes))
    }

    /// The line that `init(line:collection:)` reads as the same id and fields; for one without an id, whose fields must not have
    /// the name `id`, the fields alone.
    package var line: [UInt8] {
        guard let id else { return fields.bytes + [0x0A] }
        var writer = JSONWriter(capacity: fields.bytes.count + 200)
        writer.raw("{\"id\":")
        writer.string(id)
        writer.raw(",\"collection\":")
        writer.string(collection)
        writer.raw(",\"fields\":")
        writer.raw(fields.bytes)
        writer.raw(",\"version\":\"\"}\n")
        return writer.bytes
    }

    /// Nil when it is not a whole object.
    private static func fields(
        ofEntry members: [(key: String, value: JSONNode)], _ document: JSONDocument, _ collection: String
    ) throws(ControlError) -> JSONText? {
        let keys = members.map(\.key).filter { $0 != "attachments" }
        guard keys.sorted() == ["collection", "fields", "id", "version"],
            let fields = members.first(where: { $0.key == "fields" })?.value, case .object = fields.kind,
            let given = members.first(where: { $0.key == "collection" }).flatMap({ document.string(of: $0.value) })
        else { return nil }
        guard given.utf8.elementsEqual(collection.utf8) else {
            throw ControlError(
                .invalidArgument, "The object is one of another collection.",
                hint: "Put it into the collection it names, or leave that out.")
        }
        return JSONText(checked: document.text(of: fields))
    }
}
