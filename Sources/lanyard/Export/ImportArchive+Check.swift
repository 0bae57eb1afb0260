import ControlAPI

extension ImportArchive {
    /// Checks every line before the first is imported: an archive that was changed, or made by another program, is refused as a
    /// whole. Lines that do not fit the space are found later, one by one.
    ///
    /// - Throws: `malformed_json` with the line.
    func check() throws(ControlError) {
        try check(ExportedSchema.self, of: ExportFormat.schemas) { schema throws(ControlError) in
            try NameRule.check(schema.collection, is: .collection)
            _ = try SchemaEntry(setting: schema.schema, of: schema.collection)
        }
        try check(ExportedObject.self, of: ExportFormat.objects) { object throws(ControlError) in
            try NameRule.check(object.collection, is: .collection)
            try NameRule.check(object.id, is: .id)
            guard !object.collection.utf8.elementsEqual(ExportFormat.notes.utf8) else {
                throw ControlError(.forbidden, "\(ExportFormat.notes) is where imports note what they wrote.")
            }
        }
        try check(ExportedStream.self, of: ExportFormat.streams) { stream throws(ControlError) in
            try NameRule.check(stream.name, is: .stream)
        }
        try checkEvents()
        try check(ExportedAttachment.self, of: ExportFormat.attachments) { attachment throws(ControlError) in
            _ = try ObjectName(parsing: attachment.owner)
            try ControlError.checkAttachmentName(attachment.name)
            guard let file = attachment.file else { return }
            // A file that is not there was detached while it was exported.
            guard let place = place(of: file), place.size != attachment.size else { return }
            throw ControlError(.damaged, "the file has \(place.size) bytes, not \(attachment.size).")
        }
    }

    private func checkEvents() throws(ControlError) {
        var stream: [UInt8] = []
        var counters: [String: UInt64] = [:]
        try check(ExportedEvent.self, of: ExportFormat.events) { event throws(ControlError) in
            try NameRule.check(event.stream, is: .stream)
            _ = try EventDraft(checking: event.payload, type: event.type)
            if event.stream.bytewise != stream { (stream, counters) = (event.stream.bytewise, [:]) }
            // An import remembers the last counter of each replica, so it must be the greatest.
            guard counters[event.dot.replica].map({ $0 < event.dot.counter }) ?? true, event.dot.counter < .max else {
                throw ControlError(.damaged, "events of one replica come in the order of their counters.")
            }
            counters[event.dot.replica] = event.dot.counter
        }
    }
}
