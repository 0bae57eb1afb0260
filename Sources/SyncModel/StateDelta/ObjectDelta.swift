/// The part of one object that a node lacks which holds less.
///
/// Lives and deletions are whole: they are small, and what they say of each other must not be taken apart. For each life it
/// has the fields and attachments that the receiver lacks, and which of the receiver's are still present.
package struct ObjectDelta: Hashable, Sendable {
    package let lives: ObjectLives
    /// The delta of the fields of each life in `lives`, in the same order.
    let fields: [ObjectFields.Delta]
    /// The same of the attachments.
    let attachments: [AttachmentSet.Delta]

    init(lives: ObjectLives, fields: [ObjectFields.Delta], attachments: [AttachmentSet.Delta]) {
        precondition(
            lives.lives.count == fields.count && fields.count == attachments.count, "every life has its content")
        self.lives = lives
        self.fields = fields
        self.attachments = attachments
    }

    /// True if the sender's vector covers every operation of the delta. Otherwise the delta claims operations that were never
    /// written.
    package func isCovered(by vector: VersionVector) -> Bool {
        vector.covers(lives.touched) && lives.lives.allSatisfy { vector.covers($0.birth) }
            && lives.deletions.allSatisfy { vector.covers($0.dot) }
    }
}

extension ObjectState {
    /// An object of which nothing is left.
    package init(touched: VersionVector, greatestStamp: Stamp) {
        var lives = ObjectLives()
        (lives.touched, lives.greatestStamp) = (touched, greatestStamp)
        self.init(lives: lives, fields: [], attachments: [])
    }

    /// Returns the part that a node which holds `vector` lacks.
    package func delta(since vector: VersionVector) -> ObjectDelta {
        ObjectDelta(
            lives: lives, fields: lives.lives.compactMap { fields(of: $0.birth)?.delta(since: vector) },
            attachments: lives.lives.compactMap { attachments(of: $0.birth)?.delta(since: vector) })
    }

    /// Takes in a delta made at `theirs`, the sender's vector, for one that `held`, ours, covers. Joining it again changes
    /// nothing, and neither does the order in which deltas of several senders come.
    ///
    /// - Parameters:
    ///   - earlier: as `ObjectLives.delete` asks for it: asked for only when a deletion that wins comes along.
    ///   - removes: false is a planted bug: what the sender has removed stays.
    package mutating func join(
        _ delta: ObjectDelta, held: VersionVector, theirs: VersionVector, removes: Bool = true,
        earlier: () -> [ObjectLives.EarlierEdit]
    ) {
        let births = lives.lives.map(\.birth)
        let before = (fields: fields, attachments: attachments)
        var joined = lives
        joined.join(delta.lives, held: held, theirs: theirs, earlier: earlier)
        let theirContent = removes ? theirs : VersionVector()
        var fields: [ObjectFields] = []
        var attachments: [AttachmentSet] = []
        for life in joined.lives {
            let here = births.firstIndex(of: life.birth)
            var field = here.map { before.fields[$0] } ?? ObjectFields()
            var files = here.map { before.attachments[$0] } ?? AttachmentSet()
            if let there = delta.lives.lives.firstIndex(where: { $0.birth == life.birth }) {
                field.join(delta.fields[there], held: held, theirs: theirContent)
                files.join(delta.attachments[there], held: held, theirs: theirContent)
            }
            fields.append(field)
            attachments.append(files)
        }
        self = ObjectState(lives: joined, fields: fields, attachments: attachments)
    }

    /// Drops the lives for which `isGone` says that a node which covers their births has them no more.
    /// - Returns: whether anything went.
    package mutating func dropLives(where isGone: (Dot) -> Bool) -> Bool {
        let kept = lives.lives.indices.filter { !isGone(lives.lives[$0].birth) }
        guard kept.count < lives.lives.count else { return false }
        var rest = lives
        rest.lives = kept.map { lives.lives[$0] }
        self = ObjectState(
            lives: rest, fields: kept.map { fields[$0] }, attachments: kept.map { attachments[$0] })
        return true
    }
}

extension ObjectDelta: StateCoded {
    /// Layout: that of `ObjectLives`, with what is lacked of the fields and of the attachments behind each life.
    package func write(to writer: inout StateWriter) {
        lives.write(to: &writer) { index, writer in
            writer.append(fields[index])
            writer.append(attachments[index])
        }
    }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        var fields: [ObjectFields.Delta] = []
        var attachments: [AttachmentSet.Delta] = []
        let lives = try ObjectLives(restoring: &reader) { reader throws(CodecError) in
            fields.append(try ObjectFields.Delta(restoring: &reader))
            attachments.append(try AttachmentSet.Delta(restoring: &reader))
        }
        self.init(lives: lives, fields: fields, attachments: attachments)
    }
}
