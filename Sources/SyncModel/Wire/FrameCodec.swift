// The one file beside the generated code that knows the protobuf runtime and its `Data`.
import FoundationEssentials
import SwiftProtobuf

/// Frames to bytes and back. The four bytes of length before each frame are the transport's.
///
/// Bounds: a frame has at most `Limits.frameBytes` bytes, and every field is held to `Limits`. A segment's bytes are
/// copied twice in each direction, both times as one block.
package enum FrameCodec {
    /// Throws when a field is outside its bounds (a bug of ours) or the frame does not fit.
    package static func encode(_ frame: Frame) throws(WireError) -> [UInt8] {
        try frame.checkBounds()
        guard let bytes: [UInt8] = try? message(of: frame).serializedBytes() else { throw .malformed }
        guard bytes.count <= Limits.frameBytes else { throw .tooLarge(byteCount: bytes.count) }
        return bytes
    }

    /// Nil for a kind of frame this version does not know: it is ignored. Bytes come from peers: never traps.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> Frame? {
        guard bytes.count <= Limits.frameBytes else { throw .tooLarge(byteCount: bytes.count) }
        try FrameShape.check(bytes)
        guard let message = try? Lanyard_V1_Frame(serializedBytes: bytes) else { throw .malformed }
        guard let body = message.body else {
            if message.unknownFields.data.isEmpty { throw .malformed }
            return nil
        }
        let frame = try frame(of: body)
        try frame.checkBounds()
        return frame
    }

    private static func message(of frame: Frame) -> Lanyard_V1_Frame {
        var message = Lanyard_V1_Frame()
        switch frame {
        case .hello(let hello): message.body = .hello(Lanyard_V1_Hello(hello))
        case .have(let have): message.body = .have(Lanyard_V1_Have(have))
        case .haveRequest(let request): message.haveRequest.space = Data(request.space.bytes)
        case .want(let want): message.body = .want(Lanyard_V1_Want(want))
        case .credit(let credit):
            message.credit.wantID = credit.wantID
            message.credit.bytes = credit.bytes
            message.credit.cancel = credit.cancel
        case .changes(let changes): message.body = .changes(Lanyard_V1_Changes(changes))
        case .prune(let prune):
            message.prune.space = Data(prune.space.bytes)
            message.prune.replica = Data(prune.replica.bytes)
        case .ping(let ping): message.ping.nonce = ping.nonce
        case .pong(let pong): message.pong.nonce = pong.nonce
        case .goodbye(let goodbye):
            message.goodbye.code = goodbye.code
            message.goodbye.message = goodbye.message
            message.goodbye.otherRun = goodbye.otherRun
            message.goodbye.proof = Data(goodbye.proof)
            message.goodbye.statements = goodbye.statements.map { Data($0.canonicalBytes) }
        case .acknowledgements(let sent):
            message.acknowledgements.space = Data(sent.space.bytes)
            message.acknowledgements.rows = sent.rows.map { Data($0.encoded) }
        case .acknowledgementRequest(let request):
            message.acknowledgementRequest = Lanyard_V1_AcknowledgementRequest(request)
        case .bulkWanted: message.bulkWanted = Lanyard_V1_BulkWanted()
        case .stateOffer(let offer): message.stateOffer.space = Data(offer.space.bytes)
        case .stateRequest(let request): message.stateRequest = Lanyard_V1_StateRequest(request)
        case .stateItems(let items): message.stateItems = Lanyard_V1_StateItems(items)
        case .stateQuestion(let question):
            message.stateQuestion.id = question.id
            message.stateQuestion.announcements = question.announcements.map { Data($0.canonicalBytes) }
        case .stateAnswer(let answer):
            message.stateAnswer.id = answer.id
            message.stateAnswer.staged = Data(answer.staged.map { $0 ? 1 : 0 })
        case .presence(let presence):
            message.presence.space = Data(presence.space.bytes)
            message.presence.records = presence.records.map { Data($0.encoded) }
        case .statements(let sent):
            message.statements.space = Data(sent.space.bytes)
            message.statements.statements = sent.statements.map { Data($0.canonicalBytes) }
        }
        return message
    }

    private static func frame(of body: Lanyard_V1_Frame.OneOf_Body) throws(WireError) -> Frame {
        switch body {
        case .hello(let hello): .hello(try Frame.Hello(hello))
        case .have(let have): .have(try Frame.Have(have))
        case .haveRequest(let request): .haveRequest(Frame.HaveRequest(space: try request.space.spaceID()))
        case .want(let want): .want(try Frame.Want(want))
        case .credit(let credit):
            .credit(Frame.Credit(wantID: credit.wantID, bytes: credit.bytes, cancel: credit.cancel))
        case .changes(let changes): .changes(try Frame.Changes(changes))
        case .prune(let prune):
            .prune(Frame.Prune(space: try prune.space.spaceID(), replica: try prune.replica.replicaID()))
        case .ping(let ping): .ping(Frame.Ping(nonce: ping.nonce))
        case .pong(let pong): .pong(Frame.Pong(nonce: pong.nonce))
        case .goodbye(let goodbye):
            .goodbye(
                Frame.Goodbye(
                    code: goodbye.code, message: goodbye.message, otherRun: goodbye.otherRun,
                    proof: [UInt8](goodbye.proof), statements: try PlacedStatement.read(goodbye.statements)))
        case .acknowledgements(let sent): .acknowledgements(try Frame.Acknowledgements(sent))
        case .acknowledgementRequest(let request):
            .acknowledgementRequest(try Frame.AcknowledgementRequest(request))
        case .bulkWanted: .bulkWanted
        case .stateOffer(let offer): .stateOffer(Frame.StateOffer(space: try offer.space.spaceID()))
        case .stateRequest(let request): .stateRequest(try Frame.StateRequest(request))
        case .stateItems(let items): .stateItems(try Frame.StateItems(items))
        case .stateQuestion(let question): .stateQuestion(try Frame.StateQuestion(question))
        case .stateAnswer(let answer): .stateAnswer(try Frame.StateAnswer(answer))
        case .presence(let presence): .presence(try Frame.Presence(presence))
        case .statements(let sent):
            .statements(
                Frame.Statements(
                    space: try sent.space.spaceID(), statements: try PlacedStatement.read(sent.statements)))
        }
    }
}

extension Data {
    /// The bytes, copied as one block.
    fileprivate var array: [UInt8] { withUnsafeBytes { Array($0) } }

    fileprivate func spaceID() throws(WireError) -> SpaceID {
        guard let space = SpaceID(bytes: array) else { throw .outOfRange(field: "space") }
        return space
    }

    fileprivate func replicaID() throws(WireError) -> ReplicaID {
        guard let replica = ReplicaID(bytes: array) else { throw .outOfRange(field: "replica") }
        return replica
    }

    fileprivate func sum(_ field: String) throws(WireError) -> Sum256 {
        guard let sum = Sum256(bytes: array) else { throw .outOfRange(field: field) }
        return sum
    }
}

extension Lanyard_V1_Hello {
    fileprivate init(_ hello: Frame.Hello) {
        self.init()
        protocolLeast = hello.protocols.lowerBound
        protocolGreatest = hello.protocols.upperBound
        features = hello.features
        featuresRequired = hello.featuresRequired
        name = hello.name
        runID = hello.runID
        sessionNumber = hello.sessionNumber
        wallMilliseconds = hello.wallMilliseconds
        agentVersion = hello.agentVersion
        instance = hello.instance
        listenPort = UInt32(hello.listenPort)
        waitingRoomBytes = hello.waitingRoomBytes
        twinRun = hello.twinRun
        twinSignature = Data(hello.twinSignature)
        statementCount = hello.statementCount
        wipeReceipt = Data(hello.wipeReceipt?.canonicalBytes ?? [])
    }
}

extension Frame.Hello {
    fileprivate init(_ hello: Lanyard_V1_Hello) throws(WireError) {
        guard hello.protocolLeast <= hello.protocolGreatest else { throw .outOfRange(field: "hello.protocol_greatest") }
        guard let port = UInt16(exactly: hello.listenPort) else { throw .outOfRange(field: "hello.listen_port") }
        // A broken clock costs order among concurrent changes, never a session.
        let clock = min(max(hello.wallMilliseconds, -Limits.wallMilliseconds), Limits.wallMilliseconds)
        self.init(
            protocols: hello.protocolLeast...hello.protocolGreatest, features: hello.features,
            featuresRequired: hello.featuresRequired, name: hello.name, runID: hello.runID,
            sessionNumber: hello.sessionNumber, wallMilliseconds: clock, agentVersion: hello.agentVersion,
            instance: hello.instance, listenPort: port, waitingRoomBytes: hello.waitingRoomBytes,
            twinRun: hello.twinRun, twinSignature: [UInt8](hello.twinSignature),
            statementCount: hello.statementCount,
            wipeReceipt: try WipeReceipt.read([UInt8](hello.wipeReceipt)))
    }
}

extension Lanyard_V1_Have {
    fileprivate init(_ have: Frame.Have) {
        self.init()
        space = Data(have.space.bytes)
        vectorDigest = Data(have.vectorDigest.bytes)
        entries = have.entries.map { entry in
            var message = Lanyard_V1_VectorEntry()
            message.replica = Data(entry.replica.bytes)
            message.next = entry.next
            message.head = Data(entry.head.bytes)
            return message
        }
        complete = have.complete
        stateDigest = Data(have.stateDigest.bytes)
        if let digest = have.acknowledgementsDigest { acknowledgementsDigest = Data(digest.bytes) }
    }
}

extension Frame.Have {
    fileprivate init(_ have: Lanyard_V1_Have) throws(WireError) {
        var entries: [Frame.HaveEntry] = []
        entries.reserveCapacity(have.entries.count)
        for entry in have.entries {
            guard let head = ChainHead(bytes: entry.head.array) else { throw .outOfRange(field: "have.head") }
            entries.append(Frame.HaveEntry(replica: try entry.replica.replicaID(), next: entry.next, head: head))
        }
        let acknowledgements = have.acknowledgementsDigest
        self.init(
            space: try have.space.spaceID(), vectorDigest: try have.vectorDigest.sum("have.vector_digest"),
            entries: entries, complete: have.complete, stateDigest: try have.stateDigest.sum("have.state_digest"),
            acknowledgementsDigest: acknowledgements.isEmpty
                ? nil : try acknowledgements.sum("have.acknowledgements_digest"))
    }
}

extension Lanyard_V1_Want {
    fileprivate init(_ want: Frame.Want) {
        self.init()
        id = want.id
        space = Data(want.space.bytes)
        replica = Data(want.replica.bytes)
        from = want.from
        to = want.to
        creditBytes = want.creditBytes
    }
}

extension Frame.Want {
    fileprivate init(_ want: Lanyard_V1_Want) throws(WireError) {
        self.init(
            id: want.id, space: try want.space.spaceID(), replica: try want.replica.replicaID(), from: want.from,
            to: want.to, creditBytes: want.creditBytes)
    }
}

extension Lanyard_V1_Changes {
    fileprivate init(_ changes: Frame.Changes) {
        self.init()
        space = Data(changes.space.bytes)
        replica = Data(changes.replica.bytes)
        wantID = changes.wantID
        segments = changes.segments.map { part in
            var message = Lanyard_V1_Segment()
            message.start = part.start
            message.end = part.end
            if part.isPacked { message.packed = Data(part.bytes) } else { message.data = Data(part.bytes) }
            message.signature = Data(part.signature)
            return message
        }
        last = changes.last
        firstHeld = changes.firstHeld
    }
}

extension Frame.Changes {
    fileprivate init(_ changes: Lanyard_V1_Changes) throws(WireError) {
        self.init(
            space: try changes.space.spaceID(), replica: try changes.replica.replicaID(), wantID: changes.wantID,
            segments: try changes.segments.map { part throws(WireError) in
                guard part.packed.isEmpty || part.data.isEmpty else { throw .outOfRange(field: "segment.packed") }
                return Frame.SegmentPart(
                    start: part.start, end: part.end, bytes: (part.packed.isEmpty ? part.data : part.packed).array,
                    isPacked: !part.packed.isEmpty, signature: part.signature.array)
            }, last: changes.last, firstHeld: changes.firstHeld)
    }
}

extension Frame.Acknowledgements {
    fileprivate init(_ sent: Lanyard_V1_Acknowledgements) throws(WireError) {
        var rows: [AcknowledgementRow] = []
        rows.reserveCapacity(sent.rows.count)
        for row in sent.rows {
            do { rows.append(try AcknowledgementRow(encoded: row.array)) } catch {
                throw .outOfRange(field: "acknowledgements.rows")
            }
        }
        self.init(space: try sent.space.spaceID(), rows: rows)
    }
}

extension Lanyard_V1_AcknowledgementRequest {
    fileprivate init(_ request: Frame.AcknowledgementRequest) {
        self.init()
        space = Data(request.space.bytes)
        held = request.held.map { row in
            var message = Lanyard_V1_AcknowledgementHeld()
            message.device = Data(row.device.bytes)
            message.stamp = row.mark.stamp.rawValue
            message.tag = row.mark.tag
            return message
        }
    }
}

extension Frame.AcknowledgementRequest {
    fileprivate init(_ request: Lanyard_V1_AcknowledgementRequest) throws(WireError) {
        var held: [Held] = []
        held.reserveCapacity(request.held.count)
        for row in request.held {
            guard let device = DeviceID(bytes: row.device.array) else {
                throw .outOfRange(field: "acknowledgement_request.device")
            }
            held.append(
                Held(device: device, mark: AcknowledgementMark(stamp: Stamp(rawValue: row.stamp), tag: row.tag)))
        }
        self.init(space: try request.space.spaceID(), held: held)
    }
}

extension Lanyard_V1_StateRequest {
    fileprivate init(_ request: Frame.StateRequest) {
        self.init()
        id = request.id
        space = Data(request.space.bytes)
        since = Data(request.since.frameBytes)
        stagedEvents = Data(request.stagedEvents.frameBytes)
        asks = request.asks
        creditBytes = request.creditBytes
    }
}

extension Frame.StateRequest {
    fileprivate init(_ request: Lanyard_V1_StateRequest) throws(WireError) {
        self.init(
            id: request.id, space: try request.space.spaceID(),
            since: try VersionVector(frameBytes: request.since.array, "state_request.since"),
            stagedEvents: try VersionVector(frameBytes: request.stagedEvents.array, "state_request.staged_events"),
            asks: request.asks, creditBytes: request.creditBytes)
    }
}

extension Lanyard_V1_StateItems {
    fileprivate init(_ items: Frame.StateItems) {
        self.init()
        id = items.id
        if let held = items.vector { vector = Data(held.frameBytes) }
        data = Data(items.bytes)
        last = items.last
    }
}

extension Frame.StateItems {
    fileprivate init(_ items: Lanyard_V1_StateItems) throws(WireError) {
        self.init(
            id: items.id,
            vector: items.vector.isEmpty
                ? nil : try VersionVector(frameBytes: items.vector.array, "state_items.vector"),
            bytes: items.data.array, last: items.last)
    }
}

extension Frame.StateQuestion {
    fileprivate init(_ question: Lanyard_V1_StateQuestion) throws(WireError) {
        var announcements: [StateAnnouncement] = []
        for bytes in question.announcements {
            do { announcements.append(try StateAnnouncement(whole: bytes.array)) } catch {
                throw .outOfRange(field: "state_question.announcements")
            }
        }
        self.init(id: question.id, announcements: announcements)
    }
}

extension Frame.StateAnswer {
    fileprivate init(_ answer: Lanyard_V1_StateAnswer) throws(WireError) {
        guard answer.staged.allSatisfy({ $0 < 2 }) else { throw .outOfRange(field: "state_answer.staged") }
        self.init(id: answer.id, staged: answer.staged.map { $0 == 1 })
    }
}

extension Frame.Presence {
    fileprivate init(_ presence: Lanyard_V1_Presence) throws(WireError) {
        guard presence.records.count <= Limits.presencesPerFrame else { throw .outOfRange(field: "presence.records") }
        var records: [SignedPresence] = []
        for bytes in presence.records {
            do { records.append(try SignedPresence(encoded: bytes.array)) } catch {
                throw .outOfRange(field: "presence.records")
            }
        }
        self.init(space: try presence.space.spaceID(), records: records)
    }
}

extension PlacedStatement {
    /// One of a later version is passed over.
    fileprivate static func read(_ statements: [Data]) throws(WireError) -> [PlacedStatement] {
        guard statements.count <= countLimit, statements.reduce(0, { $0 + $1.count }) <= byteLimit else {
            throw .outOfRange(field: "statements")
        }
        var read: [PlacedStatement] = []
        for bytes in statements {
            var reader = ByteReader([UInt8](bytes))
            if let statement = try? PlacedStatement(reading: &reader), reader.isAtEnd { read.append(statement) }
        }
        return read
    }
}

extension WipeReceipt {
    fileprivate static func read(_ bytes: [UInt8]) throws(WireError) -> WipeReceipt? {
        if bytes.isEmpty { return nil }
        guard let receipt = WipeReceipt(encoded: bytes) else { throw .outOfRange(field: "hello.wipe_receipt") }
        return receipt
    }
}
