extension Operation {
    /// Attaches a file to one life of an object, or takes one away. Admitted, dropped and made void like an edit of the life.
    package struct AttachmentEdit: Hashable, Sendable {
        package let object: ObjectKey
        /// Never `birth`: an object is created first.
        package let life: LifeReference
        package let edit: AttachmentSet.Operation

        package init(object: ObjectKey, life: LifeReference, edit: AttachmentSet.Operation) {
            self.object = object
            self.life = life
            self.edit = edit
        }
    }
}

extension Operation.AttachmentEdit {
    /// Layout: key, life, then the file or the dot. Which of them is said by the operation's kind.
    func append(to bytes: inout [UInt8]) {
        object.append(to: &bytes)
        life.append(to: &bytes)
        switch edit {
        case .attach(let file): file.append(to: &bytes)
        case .detach(let id): id.append(to: &bytes)
        }
    }

    /// - Parameter read: what follows object and life.
    init(
        _ body: Range<Int>, in bytes: [UInt8],
        _ read: (inout ByteReader) throws(CodecError) -> AttachmentSet.Operation
    ) throws(CodecError) {
        var reader = ByteReader(bytes, body)
        object = try ObjectKey(reading: &reader)
        life = try Operation.LifeReference(reading: &reader)
        guard life != .birth else { throw .outOfRange(field: "attachment.life") }
        edit = try read(&reader)
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}
