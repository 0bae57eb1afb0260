/// The smallest edit. The set is open: a kind this version does not know is kept and forwarded byte for byte.
package enum Operation: Hashable, Sendable {
    case appendEvent(Event)
    case addMember(MemberFact)
    case editObject(ObjectEdit)
    case deleteObject(ObjectDeletion)
    case editSchema(SchemaEdit)
    /// The answer `keep` to deletions that asked; the answer `delete` is another deletion.
    case keepObject(ObjectKey)
    case setStream(StreamSetting)
    case editAttachments(AttachmentEdit)
    /// The retirement of a device.
    case cut(CutFact)
    case markRewriting(RewritingMark)
    case editAgain(EditAgain)
    /// The author's promise that one of its cuts is final.
    case settleCut(SettledCut)
    case dropEvents(EventDrop)
    /// A statement on a device's role.
    case trust(TrustStatement)
    /// The void work of a device on an object that the other operations of this change do again.
    case acceptWork(AcceptedWork)
    /// The counters without effect that folding leaves of unshipped operations.
    case void(span: UInt64)
    /// `span` is how many counters it covers; `body` is what follows the length.
    case unknown(kind: UInt64, span: UInt64, body: [UInt8])

    /// An immutable fact appended to a named stream.
    package struct Event: Hashable, Sendable {
        package let stream: String
        /// Nil when the author gave none.
        package let type: String?
        /// A JSON text, at most `Limits.payloadBytes`.
        package let payload: [UInt8]

        package init(stream: String, type: String?, payload: [UInt8]) {
            self.stream = stream
            self.type = type
            self.payload = payload
        }
    }

    /// Wire numbers; see PROTOCOL.md "Operations".
    package enum Kind {
        package static let appendEvent: UInt64 = 1
        package static let addMember: UInt64 = 2
        package static let editObject: UInt64 = 3
        package static let deleteObject: UInt64 = 4
        package static let editSchema: UInt64 = 5
        package static let decide: UInt64 = 6
        package static let setStream: UInt64 = 7
        package static let void: UInt64 = 8
        package static let attach: UInt64 = 9
        package static let detach: UInt64 = 10
        package static let cut: UInt64 = 11
        package static let markRewriting: UInt64 = 12
        package static let editAgain: UInt64 = 13
        package static let settleCut: UInt64 = 14
        package static let dropEvents: UInt64 = 15
        package static let trust: UInt64 = 16
        package static let acceptWork: UInt64 = 17
        /// Greater ones are of a later version.
        package static let greatest = acceptWork
    }

    /// The number of counters covered; 0 for an operation that no replica may author.
    package var span: UInt64 {
        switch self {
        case .appendEvent, .addMember, .deleteObject, .keepObject, .setStream, .editAttachments, .cut, .markRewriting,
            .settleCut, .dropEvents, .trust, .acceptWork:
            1
        case .editObject(let edit): edit.span ?? 0
        case .editAgain(let again): again.edit.span ?? 0
        case .editSchema(let edit): edit.span
        case .void(let span), .unknown(_, let span, _): span
        }
    }
}

/// The position of one operation in a change's bytes: enough to skip it, or to read it when its kind is known.
package struct OperationView: Sendable {
    package let kind: UInt64
    package let span: UInt64
    package let body: Range<Int>

    init(kind: UInt64, span: UInt64, body: Range<Int>) {
        self.kind = kind
        self.span = span
        self.body = body
    }
}

/// The fields of an `appendEvent`, as ranges of the bytes that hold them.
package struct EventView: Sendable {
    package let stream: Range<Int>
    package let type: Range<Int>?
    package let payload: Range<Int>

    package init(stream: Range<Int>, type: Range<Int>?, payload: Range<Int>) {
        self.stream = stream
        self.type = type
        self.payload = payload
    }
}

extension Operation {
    /// Layout: varint (kind · 2 + (span ≠ 1)), span if not 1, length-prefixed body.
    package func append(to bytes: inout [UInt8]) {
        let kind: UInt64
        var body: [UInt8] = []
        switch self {
        case .appendEvent(let event):
            kind = Kind.appendEvent
            body.reserveCapacity(event.payload.count + event.stream.utf8.count + 16)
            body.append(lengthPrefixed: event.stream.utf8)
            if let type = event.type {
                body.append(varint: UInt64(type.utf8.count) + 1)
                body.append(contentsOf: type.utf8)
            } else {
                body.append(0)
            }
            body.append(contentsOf: event.payload)
        case .addMember(let fact):
            kind = Kind.addMember
            body = fact.encoded
        case .editObject(let edit):
            kind = Kind.editObject
            edit.append(to: &body)
        case .deleteObject(let deletion):
            kind = Kind.deleteObject
            deletion.append(to: &body)
        case .editSchema(let edit):
            kind = Kind.editSchema
            edit.append(to: &body)
        case .keepObject(let object):
            kind = Kind.decide
            object.append(to: &body)
        case .setStream(let setting):
            kind = Kind.setStream
            setting.append(to: &body)
        case .void: kind = Kind.void
        case .editAttachments(let edit):
            kind =
                switch edit.edit {
                case .attach: Kind.attach
                case .detach: Kind.detach
                }
            edit.append(to: &body)
        case .cut(let fact):
            kind = Kind.cut
            fact.append(to: &body)
        case .markRewriting(let mark):
            kind = Kind.markRewriting
            mark.append(to: &body)
        case .editAgain(let again):
            kind = Kind.editAgain
            again.append(to: &body)
        case .settleCut(let settled):
            kind = Kind.settleCut
            settled.append(to: &body)
        case .dropEvents(let drop):
            kind = Kind.dropEvents
            drop.append(to: &body)
        case .trust(let statement):
            kind = Kind.trust
            statement.append(to: &body)
        case .acceptWork(let work):
            kind = Kind.acceptWork
            work.append(to: &body)
        case .unknown(let unknownKind, _, let unknownBody):
            kind = unknownKind
            body = unknownBody
        }
        Self.append(headOf: kind, span: span, bodyCount: body.count, to: &bytes)
        bytes += body
    }

    /// Appends the kind, the span and the length that stand before a body.
    static func append(headOf kind: UInt64, span: UInt64, bodyCount: Int, to bytes: inout [UInt8]) {
        bytes.append(varint: kind << 1 | (span == 1 ? 0 : 1))
        if span != 1 { bytes.append(varint: span) }
        bytes.append(varint: UInt64(bodyCount))
    }

    /// Reads one operation of a known kind; an unknown kind, or a known one whose body is not understood, stays bytes.
    package init(_ view: OperationView, in bytes: [UInt8]) {
        if let known = try? Operation(known: view, in: bytes), known.span == view.span {
            self = known
        } else {
            self = .unknown(kind: view.kind, span: view.span, body: Array(bytes[view.body]))
        }
    }

    /// Nil for an unknown kind.
    private init?(known view: OperationView, in bytes: [UInt8]) throws(CodecError) {
        func read<Body: ByteCoded>(_ type: Body.Type) throws(CodecError) -> Body {
            var reader = ByteReader(bytes, view.body)
            let body = try Body(reading: &reader)
            guard reader.isAtEnd else { throw .trailingBytes }
            return body
        }
        switch view.kind {
        case Kind.appendEvent: self = .appendEvent(try Event(view.body, in: bytes))
        case Kind.addMember: self = .addMember(try MemberFact(encoded: bytes, view.body))
        case Kind.editObject: self = .editObject(try read(ObjectEdit.self))
        case Kind.deleteObject: self = .deleteObject(try read(ObjectDeletion.self))
        case Kind.editSchema: self = .editSchema(try read(SchemaEdit.self))
        case Kind.decide: self = .keepObject(try read(ObjectKey.self))
        case Kind.setStream: self = .setStream(try read(StreamSetting.self))
        case Kind.void where view.body.isEmpty: self = .void(span: view.span)
        case Kind.attach:
            self = .editAttachments(
                try AttachmentEdit(view.body, in: bytes) { reader throws(CodecError) in
                    .attach(try AttachedFile(reading: &reader))
                })
        case Kind.detach:
            self = .editAttachments(
                try AttachmentEdit(view.body, in: bytes) { reader throws(CodecError) in
                    .detach(try DotReference(reading: &reader))
                })
        case Kind.cut: self = .cut(try read(CutFact.self))
        case Kind.markRewriting: self = .markRewriting(try read(RewritingMark.self))
        case Kind.editAgain: self = .editAgain(try read(EditAgain.self))
        case Kind.settleCut: self = .settleCut(try read(SettledCut.self))
        case Kind.dropEvents: self = .dropEvents(try read(EventDrop.self))
        case Kind.trust: self = .trust(try read(TrustStatement.self))
        case Kind.acceptWork: self = .acceptWork(try read(AcceptedWork.self))
        case _: return nil
        }
    }
}

extension Operation.Event {
    fileprivate init(_ body: Range<Int>, in bytes: [UInt8]) throws(CodecError) {
        let view = try EventView(body, in: bytes)
        self.init(
            stream: String(decoding: bytes[view.stream], as: UTF8.self),
            type: view.type.map { String(decoding: bytes[$0], as: UTF8.self) }, payload: Array(bytes[view.payload]))
    }
}

extension OperationView {
    package init(_ reader: inout ByteReader) throws(CodecError) {
        let head = try reader.varint()
        kind = head >> 1
        if head & 1 == 0 {
            span = 1
        } else {
            span = try reader.varint(upTo: Limits.operationsPerChange, "operation.span")
            // One is written in the head; zero counters name nothing.
            guard span > 1 else { throw .outOfRange(field: "operation.span") }
        }
        body = try reader.lengthPrefixed(upTo: Limits.operationsBytes, "operation.body")
    }
}

extension EventView {
    /// A body that breaks a rule here makes the event void on every node alike: the change is shipped, nothing is shown.
    package init(_ body: Range<Int>, in bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes, body)
        stream = try reader.lengthPrefixed(upTo: Limits.nameBytes, "event.stream")
        guard Name.isValid(bytes[stream]) else { throw .outOfRange(field: "event.stream") }
        let typeLength = try reader.varint(upTo: UInt64(Limits.nameBytes) + 1, "event.type")
        type = typeLength == 0 ? nil : try reader.skip(Int(typeLength) - 1)
        if let type, !Name.isText(bytes[type]) { throw .outOfRange(field: "event.type") }
        payload = try reader.skip(reader.remainingCount)
        guard payload.count <= Limits.payloadBytes else { throw .outOfRange(field: "event.payload") }
        guard JSONSyntax.isValid(bytes, payload) else { throw .outOfRange(field: "event.payload") }
    }
}
