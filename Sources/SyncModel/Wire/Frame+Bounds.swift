extension Frame {
    /// Every bound on a frame's fields, for frames going out and coming in alike.
    func checkBounds() throws(WireError) {
        switch self {
        case .hello(let hello): try hello.checkBounds()
        case .have(let have): try have.checkBounds()
        case .haveRequest, .prune, .ping, .pong, .bulkWanted, .stateOffer: break
        case .want(let want): try want.checkBounds()
        case .credit(let credit):
            try Self.require(credit.wantID > 0, "credit.want_id")
            try Self.require(credit.bytes <= Limits.creditBytes, "credit.bytes")
        case .changes(let changes): try changes.checkBounds()
        case .goodbye(let goodbye): try goodbye.checkBounds()
        case .acknowledgements(let sent):
            try Self.require(
                (1...Limits.acknowledgementsPerFrame).contains(sent.rows.count), "acknowledgements.rows")
        case .acknowledgementRequest(let request): try request.checkBounds()
        case .stateRequest(let request): try request.checkBounds()
        case .stateItems(let items): try items.checkBounds()
        case .stateQuestion(let question):
            try Self.require(question.id > 0, "state_question.id")
            try Self.require(
                (1...Limits.stateAnnouncementsPerFrame).contains(question.announcements.count),
                "state_question.announcements")
        case .stateAnswer(let answer):
            try Self.require(answer.id > 0, "state_answer.id")
            try Self.require(
                (1...Limits.stateAnnouncementsPerFrame).contains(answer.staged.count), "state_answer.staged")
        case .presence(let presence): try presence.checkBounds()
        case .statements(let sent):
            try PlacedStatement.checkBounds(sent.statements, upTo: PlacedStatement.byteLimit, "statements.statements")
        }
    }

    static func require(_ condition: Bool, _ field: String) throws(WireError) {
        guard condition else { throw .outOfRange(field: field) }
    }
}

extension Frame.Hello {
    fileprivate func checkBounds() throws(WireError) {
        try Frame.require(protocols.lowerBound > 0, "hello.protocol_least")
        try Frame.require(name.utf8.count <= Limits.deviceNameBytes && Name.isText(name.utf8), "hello.name")
        try Frame.require(Name.isText(agentVersion.utf8), "hello.agent_version")
        try Frame.require(Name.isText(instance.utf8), "hello.instance")
        try Frame.require(waitingRoomBytes <= Limits.waitingRoomBytes, "hello.waiting_room_bytes")
        try Frame.require(TwinStatement.isSignature(twinSignature, of: twinRun), "hello.twin_signature")
        try Frame.require(statementCount <= UInt32(PlacedStatement.countLimit), "hello.statement_count")
        let clock = -Limits.wallMilliseconds...Limits.wallMilliseconds
        try Frame.require(clock.contains(wallMilliseconds), "hello.wall_milliseconds")
    }
}

extension Frame.Have {
    fileprivate func checkBounds() throws(WireError) {
        try Frame.require(entries.count <= Limits.haveEntries, "have.entries")
        var last: ReplicaID?
        for entry in entries {
            if let last { try Frame.require(last < entry.replica, "have.entries") }
            try Frame.require((1...Limits.counters).contains(entry.next), "have.next")
            last = entry.replica
        }
    }
}

extension Frame.Want {
    fileprivate func checkBounds() throws(WireError) {
        try Frame.require(id > 0, "want.id")
        try Frame.require(from <= to && to <= Limits.counters, "want.to")
        try Frame.require(creditBytes <= Limits.creditBytes, "want.credit_bytes")
    }
}

extension Frame.Changes {
    fileprivate func checkBounds() throws(WireError) {
        try Frame.require(segments.count <= Limits.segmentsPerFrame, "changes.segments")
        // A frame that says nothing is only worth its bytes as "that was all".
        try Frame.require(!segments.isEmpty || (last && wantID > 0), "changes.segments")
        try Frame.require(firstHeld == 0 || last && segments.isEmpty, "changes.first_held")
        try Frame.require(firstHeld <= Limits.counters, "changes.first_held")
        var previous: Frame.SegmentPart?
        for part in segments {
            if let previous { try Frame.require(previous.endsSegment && previous.end == part.start, "segment.start") }
            try Frame.require(part.start < part.end && part.end <= Limits.counters, "segment.end")
            try Frame.require((1...Limits.segmentPartBytes).contains(part.bytes.count), "segment.data")
            let isWhole = part.signature.count == ChainSignature.byteCount
            try Frame.require(isWhole || part.signature.isEmpty && !part.isPacked, "segment.signature")
            previous = part
        }
        if let previous { try Frame.require(previous.endsSegment || !last, "changes.last") }
    }
}

extension Frame.Goodbye {
    func checkBounds() throws(WireError) {
        let isCode = code.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
            default: false
            }
        }
        try Frame.require(isCode && (1...Limits.codeBytes).contains(code.utf8.count), "goodbye.code")
        try Frame.require(message.utf8.count <= Limits.messageBytes, "goodbye.message")
        try Frame.require(TwinStatement.isSignature(proof, of: otherRun), "goodbye.proof")
        try PlacedStatement.checkBounds(
            statements, upTo: PlacedStatement.goodbyeByteLimit, "goodbye.statements")
    }
}

extension Frame.AcknowledgementRequest {
    fileprivate func checkBounds() throws(WireError) {
        try Frame.require(held.count <= Limits.acknowledgementsPerFrame, "acknowledgement_request.held")
        var last: DeviceID?
        for row in held {
            if let last { try Frame.require(last < row.device, "acknowledgement_request.held") }
            last = row.device
        }
    }
}
