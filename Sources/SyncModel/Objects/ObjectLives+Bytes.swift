extension ObjectLives {
    /// Layout: varint count of replicas that touched it, each: replica, varint next; varint greatest stamp; deletions;
    /// varint count of lives, each followed by what `content` writes for its index. Stamps are written as what they are
    /// below the greatest.
    func write(to writer: inout StateWriter, content: (Int, inout StateWriter) -> Void) {
        writer.append(varint: UInt64(touched.entries.count))
        for entry in touched.entries {
            writer.append(entry.replica)
            writer.append(varint: entry.next)
        }
        writer.append(varint: greatestStamp.rawValue)
        writer.append(varint: UInt64(deletions.count))
        for deletion in deletions { deletion.write(to: &writer, below: greatestStamp) }
        writer.append(varint: UInt64(lives.count))
        for (index, life) in lives.enumerated() {
            life.write(to: &writer, below: greatestStamp)
            content(index, &writer)
        }
    }

    init(
        restoring reader: inout StateReader, content: (inout StateReader) throws(CodecError) -> Void
    ) throws(CodecError) {
        var entries: [VersionVector.Entry] = []
        for _ in 0..<(try reader.count(bytesEach: 2, "object.touched")) {
            let replica = try reader.replica()
            if let last = entries.last, last.replica >= replica { throw .outOfRange(field: "object.touched") }
            let next = try reader.varint(upTo: Limits.counters, "object.touched")
            guard next > 0 else { throw .outOfRange(field: "object.touched") }
            entries.append(VersionVector.Entry(replica: replica, next: next))
        }
        touched = VersionVector(entries)
        greatestStamp = Stamp(rawValue: try reader.varint())
        for _ in 0..<(try reader.count(bytesEach: 11, "object.deletions")) {
            let deletion = try DeletionRecord(restoring: &reader, below: greatestStamp)
            if let last = deletions.last, last.dot >= deletion.dot { throw .outOfRange(field: "object.deletions") }
            deletions.append(deletion)
        }
        for _ in 0..<(try reader.count(bytesEach: 8, "object.lives")) {
            let life = try LifeRecord(restoring: &reader, below: greatestStamp)
            if let last = lives.last, last.birth >= life.birth { throw .outOfRange(field: "object.lives") }
            lives.append(life)
            try content(&reader)
        }
    }
}

extension LifeRecord {
    /// Layout: birth, stamp, deletions known, touches, varint count of dissents, each: deletion, touches.
    fileprivate func write(to writer: inout StateWriter, below greatest: Stamp) {
        writer.append(birth)
        writer.append(stamp, below: greatest)
        writer.append(known.dots)
        writer.append(touches, below: greatest)
        writer.append(varint: UInt64(dissents.count))
        for dissent in dissents {
            writer.append(dissent.deletion)
            writer.append(dissent.touches, below: greatest)
        }
    }

    fileprivate init(restoring reader: inout StateReader, below greatest: Stamp) throws(CodecError) {
        let birth = try reader.dot()
        let stamp = try reader.stamp(below: greatest)
        let known = try reader.known("life.known")
        let touches = try reader.touches(greatest)
        var dissents: [Dissent] = []
        for _ in 0..<(try reader.count(bytesEach: 3, "life.dissents")) {
            let dissent = Dissent(deletion: try reader.dot(), touches: try reader.touches(greatest))
            if let last = dissents.last, last.deletion >= dissent.deletion { throw .outOfRange(field: "life.dissents") }
            guard !dissent.touches.isEmpty else { throw .outOfRange(field: "life.dissents") }
            dissents.append(dissent)
        }
        self.init(birth: birth, stamp: stamp, known: known, touches: touches, dissents: dissents)
    }
}

extension DeletionRecord {
    /// Layout: dot, stamp, varint policy, signed wall clock, deletions known, births known, varint count of members, each DeviceID, dots of
    /// keeps, dots ended, varint count of replicas that edited, each: replica, varint count, signed last wall clock.
    fileprivate func write(to writer: inout StateWriter, below greatest: Stamp) {
        writer.append(dot)
        writer.append(stamp, below: greatest)
        writer.append(varint: policy.rawValue)
        writer.append(signed: wallMilliseconds)
        writer.append(known.dots)
        writer.append(births.dots)
        writer.append(varint: UInt64(members.count))
        for member in members { writer.bytes += member.bytes }
        writer.append(keeps)
        writer.append(ended)
        writer.append(varint: UInt64(edited.count))
        for edit in edited {
            writer.append(edit.replica)
            writer.append(varint: edit.count)
            writer.append(signed: edit.lastWallMilliseconds)
        }
    }

    fileprivate init(restoring reader: inout StateReader, below greatest: Stamp) throws(CodecError) {
        let dot = try reader.dot()
        let stamp = try reader.stamp(below: greatest)
        guard let policy = DeletePolicy(rawValue: try reader.varint()) else {
            throw .outOfRange(field: "deletion.policy")
        }
        let wall = try reader.wall("deletion.wall")
        let known = try reader.known("deletion.known")
        let births = try reader.known("deletion.births")
        let members = try reader.devices("deletion.members")
        self.init(
            dot: dot, stamp: stamp, policy: policy, wallMilliseconds: wall, known: known, births: births,
            members: members, keeps: try reader.dots("deletion.keeps"), ended: try reader.dots("deletion.ended"))
        for _ in 0..<(try reader.count(bytesEach: 3, "deletion.edited")) {
            let replica = try reader.replica()
            if let last = edited.last, last.replica >= replica { throw .outOfRange(field: "deletion.edited") }
            let count = try reader.varint(upTo: Edited.countLimit, "deletion.edited")
            let last = try reader.wall("deletion.edited")
            edited.append(Edited(replica: replica, count: count, lastWallMilliseconds: last))
        }
    }
}

extension StateWriter {
    fileprivate mutating func append(_ stamp: Stamp, below greatest: Stamp) {
        append(varint: greatest.rawValue - stamp.rawValue)
    }

    fileprivate mutating func append(_ dots: [Dot]) {
        append(varint: UInt64(dots.count))
        for dot in dots { append(dot) }
    }

    fileprivate mutating func append(_ touches: [LifeRecord.Touch], below greatest: Stamp) {
        append(varint: UInt64(touches.count))
        for touch in touches {
            append(touch.dot)
            append(touch.stamp, below: greatest)
        }
    }
}

extension StateReader {
    /// A clock that can be multiplied and compared safely, as in a change.
    fileprivate mutating func wall(_ field: String) throws(CodecError) -> Int64 {
        let wall = try signed()
        guard wall.magnitude <= Limits.wallMilliseconds.magnitude else { throw .outOfRange(field: field) }
        return wall
    }

    fileprivate mutating func stamp(below greatest: Stamp) throws(CodecError) -> Stamp {
        Stamp(rawValue: greatest.rawValue - (try varint(upTo: greatest.rawValue, "stamp")))
    }

    fileprivate mutating func dots(_ field: String) throws(CodecError) -> [Dot] {
        var dots: [Dot] = []
        for _ in 0..<(try count(bytesEach: 2, field)) {
            let dot = try dot()
            if let last = dots.last, last >= dot { throw .outOfRange(field: field) }
            dots.append(dot)
        }
        return dots
    }

    fileprivate mutating func known(_ field: String) throws(CodecError) -> KnownDots {
        guard let known = KnownDots(try dots(field)) else { throw .outOfRange(field: field) }
        return known
    }

    fileprivate mutating func devices(_ field: String) throws(CodecError) -> [DeviceID] {
        var devices: [DeviceID] = []
        for _ in 0..<(try count(bytesEach: DeviceID.byteCount, field)) {
            let range = try bytes.skip(DeviceID.byteCount)
            guard let device = DeviceID(bytes: bytes.bytes[range]) else { throw .truncated }
            if let last = devices.last, last >= device { throw .outOfRange(field: field) }
            devices.append(device)
        }
        return devices
    }

    fileprivate mutating func touches(_ greatest: Stamp) throws(CodecError) -> [LifeRecord.Touch] {
        var touches: [LifeRecord.Touch] = []
        for _ in 0..<(try count(bytesEach: 3, "life.touches")) {
            let dot = try dot()
            if let last = touches.last, last.replica >= dot.replica { throw .outOfRange(field: "life.touches") }
            touches.append(
                LifeRecord.Touch(replica: dot.replica, counter: dot.counter, stamp: try stamp(below: greatest)))
        }
        return touches
    }
}

extension ObjectState: StateCoded {
    /// Layout: that of `ObjectLives`, with the fields and the attachments behind each life.
    package func write(to writer: inout StateWriter) {
        lives.write(to: &writer) { index, writer in
            writer.append(fields[index])
            writer.append(attachments[index])
        }
    }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        var fields: [ObjectFields] = []
        var attachments: [AttachmentSet] = []
        let lives = try ObjectLives(restoring: &reader) { reader throws(CodecError) in
            fields.append(try ObjectFields(restoring: &reader))
            attachments.append(try AttachmentSet(restoring: &reader))
        }
        self.init(lives: lives, fields: fields, attachments: attachments)
    }
}
