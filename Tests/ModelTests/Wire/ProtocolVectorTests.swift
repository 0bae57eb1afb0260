import Crypto
import SyncModel
import Testing

/// The bytes that PROTOCOL.md gives are the bytes that we write and read.
@Suite struct ProtocolVectorTests {
    @Test func `every vector in PROTOCOL.md is what this version writes`() throws {
        let vectors = try ProtocolVectors()
        let written = try Example(binding: vectors["member.binding"]).written
        var names: Set<String> = ["member.binding"]
        for (name, bytes) in written {
            names.insert(name)
            #expect(vectors.bytes[name] == bytes, "PROTOCOL.md should say: \(name) = \(bytes.hexadecimal)")
        }
        let unknown = Set(vectors.bytes.keys).subtracting(names).sorted()
        #expect(unknown.isEmpty, "vectors that nothing checks: \(unknown)")
    }

    @Test func `every vector reads back`() throws {
        let vectors = try ProtocolVectors()
        let example = try Example(binding: vectors["member.binding"])
        #expect(example.fact.isBound)
        let fact = try vectors["member.fact"]
        #expect(try MemberFact(encoded: fact, 0..<fact.count) == example.fact)
        #expect(DeviceID(text: String(decoding: try vectors["device.text"], as: UTF8.self)) == example.fact.device)

        let segment = Segment(
            replica: example.replica, start: 0, end: 5, bytes: try vectors["change"],
            signature: try vectors["signature"])
        let verified = try segment.verified(
            from: .empty(space: .home, replica: example.replica), space: .home, signingKey: vectors["signing.public"])
        #expect(verified.tip.head.bytes == (try vectors["chain.head.1"]))
        for (name, frame) in example.frames {
            #expect(try FrameCodec.decode(vectors["frame." + name]) == frame)
        }
        for (name, frame) in BulkFrame.examples {
            #expect(try BulkFrameCodec.decode(vectors["bulk." + name]) == frame)
        }
        for (name, operation) in example.operations {
            let bytes = try vectors["operation." + name]
            var reader = ByteReader(bytes)
            #expect(Operation(try OperationView(&reader), in: bytes) == operation)
        }
    }
}

/// The one example that the vectors describe, step by step.
private struct Example {
    let device: P256.Signing.PrivateKey
    let signing: Curve25519.Signing.PrivateKey
    let fact: MemberFact
    let replica: ReplicaID
    let change: Change
    let other: ReplicaID

    init(binding: [UInt8]) throws {
        device = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 0x11, count: 32))
        signing = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 0x22, count: 32))
        fact = MemberFact(
            subjectPublicKeyInfo: Array(device.publicKey.derRepresentation),
            signingKey: Array(signing.publicKey.rawRepresentation), binding: binding,
            discoveryKey: [UInt8](repeating: 0x33, count: 32), role: .writer, name: "Küche")
        replica = ReplicaID(device: fact.device, incarnation: 0x0102_0304_0506_0708)
        other = ReplicaID(device: DeviceID(bytes: [UInt8](repeating: 0x44, count: 32))!, incarnation: 9)
        change = Change(
            start: 0, stamp: Stamp(rawValue: 1_700_000_000_000 << 16 | 7), wallMilliseconds: 1_700_000_000_123,
            context: [VersionVector.Entry(replica: other, next: 300)],
            operations: [
                .appendEvent(
                    Operation.Event(stream: "lights", type: "switched", payload: Array("{\"on\":true}".utf8))),
                .appendEvent(Operation.Event(stream: "log", type: nil, payload: Array("1".utf8))),
                .unknown(kind: 9, span: 3, body: [1, 2, 3]),
            ])
    }

    var written: [(String, [UInt8])] {
        get throws {
            let bytes = change.encoded
            var reader = ByteReader(bytes)
            let view = try ChangeView(&reader)
            let empty = ReplicaTip.empty(space: .home, replica: replica)
            let head = empty.head.appending(view.digest(in: bytes))
            let tip = ReplicaTip(next: view.end, head: head, stamp: view.stamp)
            let message = ChainSignature.message(space: .home, replica: replica, end: view.end, head: head)
            let parts: [(String, [UInt8])] = [
                ("device.spki", fact.subjectPublicKeyInfo), ("device.id", fact.device.bytes),
                ("device.text", Array(fact.device.description.utf8)), ("signing.public", fact.signingKey),
                ("replica", replica.bytes), ("space.home", SpaceID.home.bytes),
                ("member.binding.message", MemberFact.bindingMessage(signingKey: fact.signingKey)),
                ("member.fact", fact.encoded), ("change", bytes), ("change.header", Array(bytes[view.header])),
                ("change.operations", Array(bytes[view.operations])),
                ("change.digest", Array(view.digest(in: bytes))), ("chain.head.0", empty.head.bytes),
                ("chain.head.1", head.bytes), ("signature.message", message),
                ("signature", Array(try signing.signature(for: message))),
                ("digest.tip", tip.digestTerm(of: replica).bytes),
                ("digest.event", try firstEventTerm(view, bytes).bytes),
            ]
            return try parts + objectParts + attachmentParts + acknowledgementParts + presenceParts + trustParts
                + frames.map { ("frame." + $0.0, try FrameCodec.encode($0.1)) }
                + BulkFrame.examples.map { ("bulk." + $0.0, try BulkFrameCodec.encode($0.1)) }
        }
    }

    private var objectParts: [(String, [UInt8])] {
        var parts = operations.map { name, operation in
            var bytes: [UInt8] = []
            operation.append(to: &bytes)
            return ("operation." + name, bytes)
        }
        let origin = Origin(dot: Dot(replica: replica, counter: 0), stamp: change.stamp, context: VersionVector())
        var state = ObjectState()
        var schema = CollectionSchema()
        for (_, operation) in operations.prefix(1) {
            guard let (_, action) = operation.objectAction else { continue }
            _ = state.apply(action, at: origin, wallMilliseconds: 0, members: MemberFacts()) { [] }
        }
        for case (_, .editSchema(let edit)) in operations { schema.apply(edit, at: origin) }
        if let term = state.digestTerm(of: object) { parts.append(("digest.object", term.bytes)) }
        if let term = schema.digestTerm(collection: "note") { parts.append(("digest.schema", term.bytes)) }
        return parts
    }

    private var acknowledgementParts: [(String, [UInt8])] {
        let (first, second) = acknowledgements
        return [
            ("acknowledgement", first.acknowledgement.encoded),
            ("acknowledgement.message", first.acknowledgement.message(in: .home)),
            ("acknowledgement.signature", first.signature), ("acknowledgement.later", second.acknowledgement.encoded),
            ("acknowledgement.row", AcknowledgementRow(second, since: first).encoded),
            ("digest.acknowledgement", first.digestTerm.bytes),
        ]
    }

    private var presenceParts: [(String, [UInt8])] {
        [
            ("presence", presence.record.encoded), ("presence.message", presence.record.message(in: .home)),
            ("presence.signature", presence.signature),
        ]
    }

    private var presence: SignedPresence {
        let entry = PresenceRecord.Entry(topic: "note:1", session: 9, value: Array("{\"offset\":12}".utf8))
        let mark = PresenceMark(run: 1_700_000_000_000, sequence: 3)
        return SignedPresence(PresenceRecord(device: fact.device, mark: mark, entries: [entry]), space: .home) {
            (try? signing.signature(for: $0)).map { Array($0) } ?? []
        }
    }

    /// Two of this device, one after the other: the second holds more of the other replica, and has written on.
    var acknowledgements: (SignedAcknowledgement, SignedAcknowledgement) {
        func signed(_ stamp: UInt64, _ next: UInt64, end: UInt64) -> SignedAcknowledgement {
            let entries = [
                VersionVector.Entry(replica: replica, next: 5), VersionVector.Entry(replica: other, next: next),
            ]
            var digest = Sum256.zero
            for entry in entries {
                let head = ChainHead(space: .home, replica: entry.replica)
                digest += ReplicaTip(next: entry.next, head: head, stamp: .zero).digestTerm(of: entry.replica)
            }
            let own = VersionVector([VersionVector.Entry(replica: replica, next: end)])
            return SignedAcknowledgement(
                Acknowledgement(
                    device: fact.device, stamp: Stamp(rawValue: stamp), vector: VersionVector(entries), digest: digest,
                    laterEnds: own), space: .home
            ) { (try? signing.signature(for: $0)).map { Array($0) } ?? [] }
        }
        return (signed(1_700_000_000_000 << 16 | 8, 300, end: 5), signed(1_700_000_000_000 << 16 | 9, 301, end: 7))
    }

    var object: ObjectKey { ObjectKey(collection: "note", id: "1") }

    /// "héllo" becomes "acéllox", with a letter between that is gone again.
    private var revised: ReplicatedText.Operation {
        var editor = TextEditor(replica: replica)
        editor.insert("héllo", at: 0)
        _ = editor.commit(wallMilliseconds: 1)
        editor.insert("abc", at: 1)
        editor.remove(2..<3)
        editor.remove(0..<1)
        editor.insert("x", at: 6)
        return editor.commit(wallMilliseconds: 2)?.operations.first ?? .create
    }

    /// The first is the birth of an object with a field of every type.
    var operations: [(String, Operation)] {
        let list: ReplicatedValue.Operation = .list(
            .insert(.after(nil, .end), [.register(.set(-1)), .counter(.increment(by: 2))]))
        let birth: [ObjectFields.Operation] = [
            .update("title", .register(.set("a\u{0}b"))), .update("made", .constant(.set(.double(1.5)))),
            .update("plays", .counter(.increment(by: -3))), .update("tags", .set(.add([.null, true]))),
            .update("seen", .addOnlySet(.add(300))), .update("steps", list),
            .update("order", .orderedSet(.insert(.after(nil, .end), ["x", "y"]))),
            .update("body", .text(.insert(.after(nil, .end), "hé"))),
            .update("more", .dictionary(.update("deep", .register(.set(.object([])))))),
        ]
        let removal = Removal(children: [
            Removal.Child(
                key: [2], removal: Removal(seen: [Removal.Seen(replica: replica, last: 3, total: -3)]))
        ])
        let later: [ObjectFields.Operation] = [
            .update("steps", .list(.move(.own(6), .after(.own(7), .inherited)))),
            .update("body", .text(.delete([DotRange(first: .other(Dot(replica: other, counter: 5)), count: 2)]))),
            .remove("plays", removal),
        ]
        return [
            ("edit.birth", .editObject(Operation.ObjectEdit(object: object, life: .birth, edits: birth))),
            ("edit.own", .editObject(Operation.ObjectEdit(object: object, life: .own(counter: 0), edits: later))),
            (
                "edit.other",
                .editObject(
                    Operation.ObjectEdit(
                        object: object, life: .other(Dot(replica: other, counter: 5)),
                        edits: [.update("tags", .set(.create))]))
            ),
            (
                "edit.revised",
                .editObject(
                    Operation.ObjectEdit(
                        object: object, life: .own(counter: 0), edits: [.update("body", .text(revised))]))
            ), ("delete", .deleteObject(Operation.ObjectDeletion(object: object, policy: .deleteWins))),
            (
                "schema",
                .editSchema(
                    Operation.SchemaEdit(
                        collection: "note",
                        entries: [
                            Operation.SchemaEdit.Entry(
                                key: "fields/title", value: .object([JSONValue.Member(key: "type", value: "register")])),
                            Operation.SchemaEdit.Entry(key: "upsert", value: false),
                        ]))
            ), ("keep", .keepObject(object)),
            (
                "stream",
                .setStream(Operation.StreamSetting(stream: "lights", latestOnly: true, retainMilliseconds: 86_400_000))
            ), ("void", .void(span: 3)),
        ] + attachmentOperations + cutOperations + trustOperations
    }

    private var trust: TrustExample {
        TrustExample(replica: replica, other: other) { (try? signing.signature(for: $0)).map { Array($0) } ?? [] }
    }

    private var trustParts: [(String, [UInt8])] { trust.parts }

    private var trustOperations: [(String, Operation)] {
        trust.statements.map { ("trust." + $0.0, .trust($0.1)) }
    }

    private var trustFrames: [(String, Frame)] { trust.frames }

    var cutOperations: [(String, Operation)] {
        let end = CutFact.End(incarnation: 9, end: 300, head: ChainHead(bytes: [UInt8](repeating: 0x55, count: 32))!)
        let edit = Operation.ObjectEdit(
            object: object, life: .other(Dot(replica: other, counter: 5)), edits: [.update("tags", .set(.create))])
        let known = VersionVector([VersionVector.Entry(replica: other, next: 300)])
        return [
            ("cut", .cut(CutFact(device: other.device, isStrict: false, ends: [end]))),
            ("mark_rewriting", .markRewriting(Operation.RewritingMark(incarnation: 9, start: 300, count: 2))),
            ("edit_again", .editAgain(Operation.EditAgain(edit, known: known))),
            (
                "settle_cut",
                .settleCut(
                    Operation.SettledCut(Dot(replica: ReplicaID(device: other.device, incarnation: 9), counter: 300)))
            ),
            (
                "drop_events",
                .dropEvents(
                    Operation.EventDrop(
                        stream: "lights",
                        events: DroppedEvents(before: known, but: [Dot(replica: other, counter: 12)])))
            ),
            (
                "accept_work",
                .acceptWork(
                    Operation.AcceptedWork(
                        object: object, device: other.device,
                        stretches: [Operation.AcceptedWork.Stretch(incarnation: 9, start: 300, end: 302)]))
            ),
        ]
    }

    private var picture: AttachedFile {
        AttachedFile(
            name: "é.png", mediaType: MediaType("image/png") ?? .unknown,
            image: ImageSize(width: 640, height: 480), blob: Self.blob(300))
    }

    private var attachmentOperations: [(String, Operation)] {
        let nothing = AttachedFile(name: "", mediaType: .unknown, image: nil, blob: Self.blob(0))
        let (ours, theirs) = (Operation.LifeReference.own(counter: 0), Dot(replica: other, counter: 5))
        let edits: [(String, Operation.LifeReference, AttachmentSet.Operation)] = [
            ("attach.own", ours, .attach(picture)), ("attach.other", .other(theirs), .attach(nothing)),
            ("detach.own", ours, .detach(.own(12))),
            ("detach.other", .other(theirs), .detach(.other(Dot(replica: other, counter: 7)))),
        ]
        return edits.map { name, life, edit in
            (name, .editAttachments(Operation.AttachmentEdit(object: object, life: life, edit: edit)))
        }
    }

    private static func blob(_ count: Int) -> BlobName {
        var hasher = BlobHasher()
        [UInt8](repeating: 0x61, count: count).withUnsafeBytes { hasher.update($0) }
        return hasher.finish()
    }

    private var attachmentParts: [(String, [UInt8])] {
        let attachment = Attachment(id: Dot(replica: replica, counter: 12), stamp: change.stamp, file: picture)
        let chunk = [UInt8](repeating: 0x61, count: 300).withUnsafeBytes { ChunkHash(of: $0) }
        return [
            ("digest.attachment", attachment.digestTerm(of: object).bytes),
            ("attachment.label", Array(attachment.label.utf8)), ("blob.chunk", chunk.bytes),
            ("blob.empty", Self.blob(0).hash.bytes), ("blob.one", Self.blob(300).hash.bytes),
            ("blob.three", Self.blob(2 * BlobLayout.chunkBytes + 1).hash.bytes),
        ]
    }

    private func firstEventTerm(_ view: ChangeView, _ bytes: [UInt8]) throws -> Sum256 {
        var reader = ByteReader(bytes, view.operations)
        let event = try EventView(try OperationView(&reader).body, in: bytes)
        return EventItem.digestTerm(
            dot: Dot(replica: replica, counter: view.start), stamp: view.stamp, event: event, in: bytes)
    }

    var frames: [(String, Frame)] {
        var hello = Frame.Hello.sample()
        hello.runID = 0x0102_0304_0506_0708
        let term = ReplicaTip(next: 5, head: ChainHead(space: .home, replica: replica), stamp: .zero)
            .digestTerm(of: replica)
        let entry = Frame.HaveEntry(replica: replica, next: 5, head: ChainHead(space: .home, replica: replica))
        let held = VersionVector([VersionVector.Entry(replica: replica, next: 300)])
        let part = Frame.SegmentPart(
            start: 0, end: 5, bytes: [1, 2, 3, 4], signature: [UInt8](repeating: 0x55, count: 64))
        return [
            ("hello", .hello(hello)),
            (
                "have",
                .have(
                    Frame.Have(space: .home, vectorDigest: term, entries: [entry], complete: true, stateDigest: .zero))
            ),
            ("have_request", .haveRequest(Frame.HaveRequest(space: .home))),
            (
                "want",
                .want(Frame.Want(id: 3, space: .home, replica: replica, from: 5, to: 300, creditBytes: 1 << 20))
            ),
            ("credit", .credit(Frame.Credit(wantID: 3, bytes: 65_536, cancel: false))),
            (
                "changes",
                .changes(Frame.Changes(space: .home, replica: replica, wantID: 3, segments: [part], last: true))
            ),
            (
                "changes.packed",
                .changes(Frame.Changes(space: .home, replica: replica, wantID: 3, segments: [typing], last: true))
            ),
            ("prune", .prune(Frame.Prune(space: .home, replica: replica))),
            ("ping", .ping(Frame.Ping(nonce: 7))), ("pong", .pong(Frame.Pong(nonce: 7))),
            ("goodbye", .goodbye(Frame.Goodbye(code: "shutdown", message: "the agent stops"))),
            (
                "acknowledgements",
                .acknowledgements(
                    Frame.Acknowledgements(
                        space: .home,
                        rows: [
                            AcknowledgementRow(acknowledgements.1, since: acknowledgements.0),
                            AcknowledgementRow(acknowledgements.0),
                        ]))
            ),
            (
                "acknowledgement_request",
                .acknowledgementRequest(
                    Frame.AcknowledgementRequest(
                        space: .home,
                        held: [.init(device: acknowledgements.0.device, mark: acknowledgements.0.mark)]))
            ), ("bulk_wanted", .bulkWanted), ("state_offer", .stateOffer(Frame.StateOffer(space: .home))),
            (
                "state_request",
                .stateRequest(
                    Frame.StateRequest(
                        id: 3, space: .home, since: held, stagedEvents: VersionVector(), asks: true, creditBytes: 65_536
                    ))
            ),
            ("state_items.first", .stateItems(Frame.StateItems(id: 3, vector: held, bytes: [], last: false))),
            ("state_items", .stateItems(Frame.StateItems(id: 3, bytes: [1, 2], last: true))),
            (
                "state_question",
                .stateQuestion(
                    Frame.StateQuestion(
                        id: 3,
                        announcements: [
                            StateAnnouncement(key: ObjectKey(collection: "note", id: "1"), touched: held)
                        ]))
            ),
            ("state_answer", .stateAnswer(Frame.StateAnswer(id: 3, staged: [true]))),
            ("presence", .presence(Frame.Presence(space: .home, records: [presence]))),
            (
                "changes.gone",
                .changes(
                    Frame.Changes(
                        space: .home, replica: replica, wantID: 3, segments: [], last: true, firstHeld: 300))
            ),
        ] + trustFrames
    }

    /// Two letters, an emoji, and two events, 100 ms apart.
    private var typing: Frame.SegmentPart {
        func typed(_ text: ExactString, behind counter: UInt64) -> Operation {
            .editObject(
                Operation.ObjectEdit(
                    object: ObjectKey(collection: "note", id: "1"), life: .own(counter: 0),
                    edits: [.update("body", .text(.insert(.after(.own(counter), .inherited), text)))]))
        }
        func event(_ payload: String) -> Operation {
            .appendEvent(Operation.Event(stream: "lights", type: nil, payload: Array(payload.utf8)))
        }
        let operations = [
            typed("H", behind: 4), typed("i", behind: 5), typed("🙂", behind: 6), event("{\"on\":true}"),
            event("{\"on\":false}"),
        ]
        let changes = operations.enumerated().map { number, operation in
            let milliseconds = 1_700_000_000_000 + Int64(number) * 100
            return Change(
                start: UInt64(number) + 5, stamp: Stamp(rawValue: UInt64(milliseconds) << 16),
                wallMilliseconds: milliseconds, context: [], operations: [operation])
        }
        return Frame.SegmentPart(
            Segment(
                replica: replica, start: 5, end: 10, bytes: changes.flatMap(\.encoded),
                signature: [UInt8](repeating: 0x55, count: 64)))
    }
}
