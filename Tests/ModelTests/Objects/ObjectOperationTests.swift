import LawHistories
import SyncModel
import Testing

/// Operations on objects as bytes: one form each, and bytes that are none stay bytes.
@Suite struct ObjectOperationTests {
    static let replica = ObjectHistory(nodes: 2).replicas[1]
    static let key = ObjectKey(collection: "note", id: "a ü1")

    static let samples: [Operation] = [
        .editObject(
            Operation.ObjectEdit(
                object: key, life: .birth,
                edits: [.update("title", .register(.set("x"))), .update("plays", .counter(.increment(by: -3)))])),
        .editObject(Operation.ObjectEdit(object: key, life: .birth, edits: [])),
        .editObject(
            Operation.ObjectEdit(
                object: key, life: .own(counter: 300), edits: [.remove("plays", Removal())])),
        .editObject(
            Operation.ObjectEdit(
                object: key, life: .other(Dot(replica: replica, counter: 7)),
                edits: [.update("", .register(.set(.object([]))))])),
        .deleteObject(Operation.ObjectDeletion(object: key, policy: .ask)), .keepObject(key),
        .editSchema(
            Operation.SchemaEdit(
                collection: "note",
                entries: [
                    Operation.SchemaEdit.Entry(key: "upsert", value: false),
                    Operation.SchemaEdit.Entry(key: "later", value: [1, .null, "x"]),
                ])),
        .setStream(Operation.StreamSetting(stream: "lights", latestOnly: true, retainMilliseconds: nil)),
        .setStream(Operation.StreamSetting(stream: "lights", latestOnly: false, retainMilliseconds: 0)),
        .void(span: 1), .void(span: 4),
        attach(.named("a")), attach(.named("ü.png"), to: .other(Dot(replica: replica, counter: 7))),
        detach(.own(5)), detach(.other(Dot(replica: replica, counter: 9))),
    ]

    private static func attach(
        _ file: AttachedFile, to life: Operation.LifeReference = .own(counter: 3)
    ) -> Operation {
        .editAttachments(Operation.AttachmentEdit(object: key, life: life, edit: .attach(file)))
    }

    private static func detach(_ id: DotReference) -> Operation {
        .editAttachments(Operation.AttachmentEdit(object: key, life: .own(counter: 3), edit: .detach(id)))
    }

    static func bytes(_ operation: Operation) -> [UInt8] {
        var bytes: [UInt8] = []
        operation.append(to: &bytes)
        return bytes
    }

    static func read(_ bytes: [UInt8]) throws -> Operation {
        var reader = ByteReader(bytes)
        let operation = Operation(try OperationView(&reader), in: bytes)
        #expect(reader.isAtEnd)
        return operation
    }

    @Test(arguments: samples)
    func `an operation reads back`(_ operation: Operation) throws {
        #expect(try Self.read(Self.bytes(operation)) == operation)
    }

    @Test func `spans count what an edit does, and the birth`() {
        #expect(Self.samples.map(\.span) == [3, 1, 1, 1, 1, 1, 2, 1, 1, 1, 4, 1, 1, 1, 1])
    }

    @Test func `nobody may author an edit that does nothing`() {
        #expect(
            !ChangeAuthor.canAuthor([
                .editObject(Operation.ObjectEdit(object: Self.key, life: .own(counter: 1), edits: []))
            ]))
        #expect(ChangeAuthor.canAuthor(Self.samples))
    }

    @Test func `nobody may author what others would read as bytes`() {
        func canAuthor(_ value: JSONValue, in object: ObjectKey = Self.key) -> Bool {
            ChangeAuthor.canAuthor([
                .editObject(
                    Operation.ObjectEdit(object: object, life: .birth, edits: [.update("f", .register(.set(value)))]))
            ])
        }
        let deep = { (depth: Int) in (0..<depth).reduce(JSONValue.null) { inner, _ in .array([inner]) } }
        #expect(canAuthor(deep(JSONValue.maximumDepth)))
        #expect(!canAuthor(deep(JSONValue.maximumDepth + 1)))
        #expect(canAuthor(.text(String(repeating: "x", count: Limits.payloadBytes))))
        #expect(!canAuthor(.text(String(repeating: "x", count: Limits.editBytes))))
        #expect(!canAuthor(.double(.infinity)))
        #expect(!canAuthor(1, in: ObjectKey(collection: "a/b", id: "x")))
        #expect(!canAuthor(1, in: ObjectKey(collection: "a", id: "")))
    }

    @Test func `a body that breaks a rule stays bytes, whole`() throws {
        let longID = ObjectKey(collection: "c", id: ExactString(String(repeating: "x", count: 257)))
        let broken: [Operation] = [
            .keepObject(longID), .keepObject(ObjectKey(collection: "c", id: "")),
            .keepObject(ObjectKey(collection: "a/b", id: "x")), .keepObject(ObjectKey(collection: "", id: "x")),
            .editObject(Operation.ObjectEdit(object: Self.key, life: .birth, edits: [.create])),
            .editSchema(Operation.SchemaEdit(collection: "a/b", entries: [.init(key: "x", value: 1)])),
            .setStream(Operation.StreamSetting(stream: "", latestOnly: true, retainMilliseconds: nil)),
            Self.attach(.named("a"), to: .birth),
            Self.attach(.named(ExactString(String(repeating: "x", count: Limits.attachmentNameBytes + 1)))),
            Self.attach(.named("a").having(size: BlobLayout.sizeLimit + 1)),
        ]
        for operation in broken {
            #expect(!ChangeAuthor.canAuthor([operation]))
            let bytes = Self.bytes(operation)
            guard case .unknown(_, operation.span, _) = try Self.read(bytes) else {
                Issue.record("\(operation) was read as an operation")
                continue
            }
            #expect(Self.bytes(try Self.read(bytes)) == bytes)
        }
    }

    @Test func `a span that is not the sum of the edits makes the operation void`() throws {
        for operation in Self.samples {
            for span in [operation.span - 1, operation.span + 1] where span > 0 {
                var body: [UInt8] = []
                var reader = ByteReader(Self.bytes(operation))
                let view = try OperationView(&reader)
                body += reader.bytes[view.body]
                let bytes = Self.bytes(.unknown(kind: view.kind, span: span, body: body))
                switch try Self.read(bytes) {
                case .unknown, .void: break
                case let other: Issue.record("\(other) covers \(span)")
                }
            }
        }
    }

    @Test func `bytes changed anywhere never trap, and what is read is written the same`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            var bytes = Self.bytes(Self.samples[Int.random(in: 0..<Self.samples.count, using: &random)])
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            var reader = ByteReader(bytes)
            guard let view = try? OperationView(&reader) else { continue }
            #expect(Self.bytes(Operation(view, in: bytes)) == Array(bytes[..<reader.position]))
        }
    }
}

extension AttachedFile {
    fileprivate func having(size: UInt64) -> AttachedFile {
        AttachedFile(name: name, mediaType: mediaType, image: image, blob: BlobName(blob.hash, size: size))
    }
}
