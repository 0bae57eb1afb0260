import Crypto

extension StateItem: ByteCoded {
    /// Layout: one byte, the kind; varint length of the body; the body.
    package func append(to bytes: inout [UInt8]) {
        var body: [UInt8] = []
        switch self {
        case .fact(let item): item.append(to: &body)
        case .cuts(let item): item.append(to: &body)
        case .schema(let item): item.append(to: &body)
        case .stream(let item): item.append(to: &body)
        case .dropped(let item): item.append(to: &body)
        case .announcement(let item): item.append(to: &body)
        case .object(let item): item.append(to: &body)
        case .events(let item): item.append(to: &body)
        case .births(let item): item.append(to: &body)
        case .tip(let item): item.append(to: &body)
        case .end(let item): item.append(to: &body)
        case .check(let item): body += item.digest
        }
        bytes.append(kind.rawValue)
        bytes.append(lengthPrefixed: body)
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    package init(reading reader: inout ByteReader) throws(CodecError) {
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .outOfRange(field: "state.kind") }
        let range = try reader.lengthPrefixed(upTo: kind.limitBytes, "state.length")
        var body = ByteReader(reader.bytes, range)
        switch kind {
        case .fact: self = .fact(try StateFact(reading: &body))
        case .cuts: self = .cuts(try StateCuts(reading: &body))
        case .schema: self = .schema(try StateSchema(reading: &body))
        case .stream: self = .stream(try StateStreamSetting(reading: &body))
        case .dropped: self = .dropped(try Operation.EventDrop(reading: &body))
        case .announcement: self = .announcement(try StateAnnouncement(reading: &body))
        case .object: self = .object(try StateObject(reading: &body))
        case .events: self = .events(try EventResidue(reading: &body))
        case .births: self = .births(try StateBirths(reading: &body))
        case .tip: self = .tip(try StateTip(reading: &body))
        case .end: self = .end(try StateEnd(reading: &body))
        case .check: self = .check(StateCheck(digest: Array(body.bytes[try body.skip(StateEnd.digestByteCount)])))
        }
        guard body.isAtEnd else { throw .trailingBytes }
    }
}

extension StateFact: ByteCoded {
    /// Layout: dot, signed clock, the fact up to the end.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(dot)
        bytes.append(signed: wallMilliseconds)
        bytes += fact.encoded
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        dot = try reader.dot("fact.dot")
        wallMilliseconds = try reader.wall("fact.wall")
        let body = try reader.skip(reader.remainingCount)
        fact = try MemberFact(encoded: reader.bytes, body)
        // A fact's parts may have several forms; the author's bytes are kept, and no other node encodes them anew.
        guard fact.encoded.elementsEqual(reader.bytes[body]) else { throw .outOfRange(field: "fact") }
    }
}

extension StateCuts: ByteCoded {
    /// Layout: that of the table, up to the end.
    package func append(to bytes: inout [UInt8]) { bytes += encoded }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        encoded = Array(reader.bytes[try reader.skip(reader.remainingCount)])
        guard CutTable.isCanonical(encoded) else { throw .outOfRange(field: "cuts") }
    }
}

extension StateSchema: ByteCoded {
    /// Layout: collection with its length, what is lacked of the entries.
    package func append(to bytes: inout [UInt8]) {
        collection.append(to: &bytes)
        entries.append(to: &bytes)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        collection = try ExactString(reading: &reader)
        guard Name.isValid(collection.string) else { throw .outOfRange(field: "schema.collection") }
        entries = try CollectionSchema.Entries.Delta(reading: &reader)
    }
}

extension StateStreamSetting: ByteCoded {
    /// Layout: stamp (8), dot, the setting.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: key.stamp.rawValue)
        bytes.append(key.dot)
        setting.append(to: &bytes)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        let stamp = Stamp(rawValue: try reader.bigEndianUInt64())
        key = CanonicalKey(stamp: stamp, dot: try reader.dot("stream.dot"))
        setting = try Operation.StreamSetting(reading: &reader)
    }
}

extension StateAnnouncement: ByteCoded {
    /// SHA-256 over the layout of the key, varint count of replicas, each: replica, varint next; cut to 16 bytes. By accident
    /// no two are equal. A peer that makes two equal on purpose gains nothing that it could not write anyway.
    static func digest(of key: ObjectKey, touched: VersionVector) -> [UInt8] {
        var bytes = Array("lanyard/state/touched/v1".utf8)
        key.append(to: &bytes)
        bytes.append(entries: touched.entries)
        return Array(SHA256.hash(data: bytes).prefix(digestByteCount))
    }

    /// Layout: key, digest (16).
    package func append(to bytes: inout [UInt8]) {
        key.append(to: &bytes)
        bytes += digest
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        key = try ObjectKey(reading: &reader)
        digest = Array(reader.bytes[try reader.skip(Self.digestByteCount)])
    }
}

extension StateObject: ByteCoded {
    /// Layout: 0 or 1, with 1 the version; signed clock; the delta.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(version == nil ? 0 : 1)
        if let version { bytes.append(version) }
        bytes.append(signed: wallMilliseconds)
        delta.append(to: &bytes)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        version = try reader.flag("object.version") ? try reader.dot("object.version") : nil
        wallMilliseconds = try reader.wall("object.wall")
        delta = try ObjectDelta(reading: &reader)
    }
}

extension StateBirths: ByteCoded {
    /// Layout: replica; varint count; each: varint distance from the end of the one before (the first from 0), varint length − 1.
    package func append(to bytes: inout [UInt8]) {
        bytes += replica.bytes
        bytes.append(varint: UInt64(runs.count))
        var end: UInt64 = 0
        for run in runs {
            bytes.append(varint: run.lowerBound - end)
            bytes.append(varint: run.upperBound - run.lowerBound - 1)
            end = run.upperBound
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        replica = try reader.replicaID("births.replica")
        let count = Int(try reader.varint(upTo: UInt64(Limits.stateBirthRuns), "births.count"))
        guard count > 0, count <= reader.remainingCount / 2 else { throw .outOfRange(field: "births.count") }
        var runs: [Range<UInt64>] = []
        runs.reserveCapacity(count)
        var end: UInt64 = 0
        for index in 0..<count {
            let distance = try reader.varint(upTo: Limits.counters - end, "births.run")
            // Two that touch are one.
            guard index == 0 || distance > 0 else { throw .outOfRange(field: "births.run") }
            let start = end + distance
            guard start < Limits.counters else { throw .outOfRange(field: "births.run") }
            end = start + (try reader.varint(upTo: Limits.counters - start - 1, "births.run")) + 1
            runs.append(start..<end)
        }
        self.runs = runs
    }
}

extension StateTip: ByteCoded {
    /// Layout: replica, varint next, stamp (8), head (32), signature (64), what the first change named, what others named
    /// since; these two: varint count of other replicas, each: replica, varint next.
    package func append(to bytes: inout [UInt8]) {
        bytes += replica.bytes
        bytes.append(varint: tip.next)
        bytes.append(bigEndian: tip.stamp.rawValue)
        bytes += tip.head.bytes
        bytes += signature
        bytes.append(entries: first.entries)
        bytes.append(entries: named.entries(beyond: first))
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        replica = try reader.replicaID("tip.replica")
        let next = try reader.varint(upTo: Limits.counters, "tip.next")
        guard next > 0 else { throw .outOfRange(field: "tip.next") }
        let stamp = Stamp(rawValue: try reader.bigEndianUInt64())
        guard let head = ChainHead(bytes: Array(reader.bytes[try reader.skip(ChainHead.byteCount)])) else {
            throw .truncated
        }
        tip = ReplicaTip(next: next, head: head, stamp: stamp)
        signature = Array(reader.bytes[try reader.skip(ChainSignature.byteCount)])
        first = try reader.vector("tip.first")
        let since = try reader.vector("tip.named")
        guard since.entries(beyond: first) == since.entries else { throw .outOfRange(field: "tip.named") }
        var named = first
        named.join(since)
        guard named.next(of: replica) == 0 else { throw .outOfRange(field: "tip.named") }
        self.named = named
    }
}

extension StateEnd: ByteCoded {
    /// Layout: varint count of replicas, each: replica, varint next; digest (32).
    package func append(to bytes: inout [UInt8]) {
        bytes.append(entries: vector.entries)
        bytes += digest
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        vector = try reader.vector("end.vector")
        digest = Array(reader.bytes[try reader.skip(Self.digestByteCount)])
    }
}

extension [UInt8] {
    mutating func append(_ dot: Dot) {
        self += dot.replica.bytes
        append(varint: dot.counter)
    }
}

extension ByteReader {
    mutating func dot(_ field: String) throws(CodecError) -> Dot {
        Dot(replica: try replicaID(field), counter: try varint(upTo: Limits.counters, field))
    }

    mutating func replicaID(_ field: String) throws(CodecError) -> ReplicaID {
        guard let replica = ReplicaID(bytes: bytes[try skip(ReplicaID.byteCount)]) else {
            throw .outOfRange(field: field)
        }
        return replica
    }

    fileprivate mutating func wall(_ field: String) throws(CodecError) -> Int64 {
        let wall = try signed()
        guard wall.magnitude <= Limits.wallMilliseconds.magnitude else { throw .outOfRange(field: field) }
        return wall
    }

    fileprivate mutating func vector(_ field: String) throws(CodecError) -> VersionVector {
        let entries = try entries(field, upTo: Limits.stateVectorEntries)
        guard entries.allSatisfy({ $0.next > 0 }) else { throw .outOfRange(field: field) }
        return VersionVector(entries)
    }
}

extension StateAnnouncement {
    /// Exactly these bytes.
    package init(whole bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        try self.init(reading: &reader)
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}
