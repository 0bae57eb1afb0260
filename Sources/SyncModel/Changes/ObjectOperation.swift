/// The fields of an object: each a sum of types, by name.
package typealias ObjectFields = ReplicatedDictionary<ExactString, ReplicatedValue>

extension Operation {
    /// Edits of one object, in one of its lives.
    package struct ObjectEdit: Hashable, Sendable {
        package let object: ObjectKey
        package let life: LifeReference
        /// The edits of the fields, `.update` and `.remove`; at least one, unless this is the birth.
        package let edits: [ObjectFields.Operation]

        package init(object: ObjectKey, life: LifeReference, edits: [ObjectFields.Operation]) {
            self.object = object
            self.life = life
            self.edits = edits
        }

        /// A birth owns the first counter, then each edit its own; nil beyond any bound.
        package var span: UInt64? {
            var span: UInt64 = life == .birth ? 1 : 0
            for edit in edits {
                let (sum, overflow) = span.addingReportingOverflow(ObjectFields.span(of: edit))
                guard !overflow else { return nil }
                span = sum
            }
            return span > 0 && span <= Limits.operationsPerChange ? span : nil
        }
    }

    /// The life in which an edit is made. A change does not name its own replica, so the reference does not either.
    package enum LifeReference: Hashable, Sendable {
        /// The one that this operation begins.
        case birth
        /// A life that the author's replica began, at this counter.
        case own(counter: UInt64)
        /// A life that another replica began.
        case other(Dot)

        /// The reference to `birth` in an operation of `author`.
        package init(to birth: Dot, by author: ReplicaID) {
            self = birth.replica == author ? .own(counter: birth.counter) : .other(birth)
        }

        /// The birth that is meant in an operation at `origin`.
        package func birth(at origin: Origin) -> Dot {
            switch self {
            case .birth: origin.dot
            case .own(let counter): Dot(replica: origin.dot.replica, counter: counter)
            case .other(let dot): dot
            }
        }
    }

    /// A DeletedObject.
    package struct ObjectDeletion: Hashable, Sendable {
        package let object: ObjectKey
        package let policy: DeletePolicy

        package init(object: ObjectKey, policy: DeletePolicy) {
            self.object = object
            self.policy = policy
        }
    }
}

extension Operation.LifeReference: ByteCoded {
    /// Layout: varint 0 (birth), else 1 + (counter · 2 + (another replica's)), then that replica's name.
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .birth: bytes.append(0)
        case .own(let counter): bytes.append(varint: counter << 1 + 1)
        case .other(let dot):
            bytes.append(varint: dot.counter << 1 + 2)
            bytes += dot.replica.bytes
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        let head = try reader.varint(upTo: Limits.counters << 1 + 2, "object.life")
        guard head > 0 else {
            self = .birth
            return
        }
        let counter = (head - 1) >> 1
        guard head & 1 == 0 else {
            self = .own(counter: counter)
            return
        }
        let range = try reader.skip(ReplicaID.byteCount)
        guard let replica = ReplicaID(bytes: reader.bytes[range]) else { throw .truncated }
        self = .other(Dot(replica: replica, counter: counter))
    }
}

extension Operation.ObjectEdit: ByteCoded {
    /// Layout: key, life, then edits up to the end.
    package func append(to bytes: inout [UInt8]) {
        object.append(to: &bytes)
        life.append(to: &bytes)
        for edit in edits { edit.append(to: &bytes) }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        object = try ObjectKey(reading: &reader)
        life = try Operation.LifeReference(reading: &reader)
        var edits: [ObjectFields.Operation] = []
        while !reader.isAtEnd {
            let start = reader.position
            let edit = try ObjectFields.Operation(reading: &reader)
            guard reader.position - start <= Limits.editBytes else { throw .outOfRange(field: "object.edit") }
            switch edit {
            case .update, .remove: edits.append(edit)
            case .create: throw .outOfRange(field: "object.edit")
            }
        }
        self.edits = edits
        guard span != nil else { throw .outOfRange(field: "object.edits") }
    }
}

extension Operation.ObjectDeletion: ByteCoded {
    /// Layout: key, varint policy.
    package func append(to bytes: inout [UInt8]) {
        object.append(to: &bytes)
        bytes.append(varint: policy.rawValue)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        object = try ObjectKey(reading: &reader)
        guard let policy = DeletePolicy(rawValue: try reader.varint()) else {
            throw .outOfRange(field: "object.policy")
        }
        self.policy = policy
    }
}
