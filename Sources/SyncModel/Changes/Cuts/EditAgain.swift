extension Operation {
    /// An edit that a device had made while it was cut, written again: its place in history is new, what its author had
    /// seen when the edit was made is not. So what others wrote meanwhile stands beside it, as if both had been written
    /// apart: they were.
    ///
    /// Of a life that is here still; what is born again, or ended meanwhile, is not written so: whether an object is
    /// there is decided by what its author knows now.
    package struct EditAgain: Hashable, Sendable {
        package let edit: ObjectEdit
        /// The vector its author had seen when it first wrote the edit, and where that stands again.
        package let known: VersionVector

        package init(_ edit: ObjectEdit, known: VersionVector) {
            self.edit = edit
            self.known = known
        }

        /// The origin by which the edit is judged. Whether its author was a member is decided by the change that contains
        /// this operation.
        package func origin(at origin: Origin) -> Origin { origin.again(knowing: known) }
    }
}

extension Operation.EditAgain: ByteCoded {
    /// Layout: varint count, each: replica, varint next; the edit.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(entries: known.entries)
        edit.append(to: &bytes)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        let entries = try reader.entries("again.known")
        guard entries.allSatisfy({ $0.next > 0 }) else { throw .outOfRange(field: "again.known") }
        known = VersionVector(entries)
        edit = try Operation.ObjectEdit(reading: &reader)
        guard edit.life != .birth else { throw .outOfRange(field: "again.life") }
    }
}

extension Operation {
    /// Returns the origin by which the operation is judged when it stands at `origin`.
    package func judged(at origin: Origin) -> Origin {
        switch self {
        case .editAgain(let again): again.origin(at: origin)
        case .appendEvent, .addMember, .editObject, .deleteObject, .editSchema, .keepObject, .setStream,
            .editAttachments, .cut, .markRewriting, .settleCut, .dropEvents, .trust, .acceptWork, .void, .unknown:
            origin
        }
    }

    /// The operation's statement about which histories count; nil for most operations.
    package var statement: CutStatement? {
        switch self {
        case .addMember(let fact): fact.isBound ? .addition(fact) : nil
        case .cut(let fact): .cut(fact)
        case .markRewriting(let mark): .rewriting(mark)
        case .settleCut(let settled): .settled(settled)
        case .trust(let statement): .trust(statement)
        case .appendEvent, .editObject, .editAgain, .deleteObject, .editSchema, .keepObject, .setStream,
            .editAttachments, .dropEvents, .acceptWork, .void, .unknown:
            nil
        }
    }
}

/// A statement of an operation about which histories count.
package enum CutStatement: Hashable, Sendable {
    case cut(CutFact)
    /// The addition of a device.
    case addition(MemberFact)
    case rewriting(Operation.RewritingMark)
    case settled(Operation.SettledCut)
    case trust(TrustStatement)

    /// True if it says something of retired devices alone.
    var isAboutCuts: Bool {
        switch self {
        case .cut, .rewriting, .settled: true
        case .addition, .trust: false
        }
    }
}
