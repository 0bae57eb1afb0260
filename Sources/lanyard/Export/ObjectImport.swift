import ControlAPI
import LanyardClient

/// Objects of an export on their way into a space, in groups of one collection.
final class ObjectImport {
    private static let groupObjects = 500
    private static let groupBytes = 512 << 10

    private let client: LanyardClient
    private let space: String
    private let summary: ImportSummary
    private let replace: Bool
    private var group: [ObjectPut] = []
    private var bytes = 0
    /// The ids that were deleted in the collection of the group.
    private var deleted: (collection: [UInt8], ids: Set<[UInt8]>) = ([], [])
    /// The objects that were deleted here, or cannot be written.
    private(set) var skipped: Set<ObjectName> = []

    init(_ client: LanyardClient, _ space: String, _ summary: ImportSummary, replace: Bool) {
        self.client = client
        self.space = space
        self.summary = summary
        self.replace = replace
    }

    func add(_ object: ExportedObject) async throws(ControlError) {
        let isFull = group.count >= Self.groupObjects || bytes >= Self.groupBytes
        if isFull || group.last.map({ $0.collection.bytewise != object.collection.bytewise }) ?? false {
            try await flush()
        }
        if deleted.collection != object.collection.bytewise { try await lookUpDeleted(object.collection) }
        let name = try ObjectName(collection: object.collection, id: object.id)
        guard !deleted.ids.contains(object.id.bytewise) else { return leave(deleted: name) }
        do throws(ControlError) {
            group.append(try ObjectPut(collection: object.collection, id: object.id, fields: object.fields))
            bytes += object.fields.bytes.count
        } catch {
            // It may have grown beyond what is put at once; what is here already need not be put.
            guard case .same = try await standing(of: name, object.fields) else { return refuse(name, error) }
            summary.sameObjects += 1
        }
    }

    /// Reads the deleted ids of the collection, also of objects whose policy would let them live again: no user decided that
    /// they should.
    private func lookUpDeleted(_ collection: String) async throws(ControlError) {
        var ids: Set<[UInt8]> = []
        do throws(ControlError) {
            try await typed {
                try await client.listDeletedObjects(of: collection, space: space) { entries in
                    for entry in entries { ids.insert(entry.id.bytewise) }
                }
            }
        } catch {
            guard error.code == .notFound || error.code == .unknownCollection else { throw error }
        }
        deleted = (collection.bytewise, ids)
    }

    func flush() async throws(ControlError) {
        let group = group
        (self.group, bytes) = ([], 0)
        // Mostly nothing of it is here.
        let count = try await putUntilRefused(group[...], .absent).count
        summary.newObjects += count
        // Where something is, the rest is looked at first: to be refused one by one costs more.
        var (absent, different): ([ObjectPut], [ObjectPut]) = ([], [])
        for object in group[count...] {
            switch try await standing(of: try Self.name(of: object), object.fields) {
            case .absent: absent.append(object)
            case .same: summary.sameObjects += 1
            case .different: different.append(object)
            case .refused(let error): refuse(try Self.name(of: object), error)
            }
        }
        summary.newObjects += try await put(absent[...], .absent)
        if replace {
            summary.replacedObjects += try await put(different[...], .none)
        } else {
            summary.keptObjects += try different.map { object throws(ControlError) in "\(try Self.name(of: object))" }
        }
    }

    // MARK: What is here

    private enum Standing {
        case absent
        case same
        case different
        case refused(ControlError)
    }

    private func standing(of name: ObjectName, _ fields: JSONText) async throws(ControlError) -> Standing {
        do throws(ControlError) {
            let here = try await client.object(name, space: space)
            return here.fields.means(fields) ? .same : .different
        } catch {
            if error.code == .notFound || error.code == .unknownCollection { return .absent }
            guard Self.isOfOneObject(error.code) else { throw error }
            return .refused(error)
        }
    }

    // MARK: Writing

    /// Puts objects. Refused ones are recorded, and the rest goes on behind them.
    ///
    /// - Returns: the number of objects that were written.
    private func put(_ objects: ArraySlice<ObjectPut>, _ condition: WriteCondition) async throws(ControlError) -> Int {
        var rest = objects
        var written = 0
        while !rest.isEmpty {
            let (count, error) = try await putUntilRefused(rest, condition)
            written += count
            rest = rest.dropFirst(count)
            guard let error, let refused = rest.popFirst() else { continue }
            let name = try Self.name(of: refused)
            switch error.code {
            // Another write was faster.
            case .alreadyExists: summary.keptObjects.append("\(name)")
            case .objectDeleted: leave(deleted: name)
            case _: refuse(name, error)
            }
        }
        return written
    }

    /// - Returns: how many were written, and why the next was not; nil where all were.
    private func putUntilRefused(
        _ objects: ArraySlice<ObjectPut>, _ condition: WriteCondition
    ) async throws(ControlError) -> (count: Int, error: ControlError?) {
        guard let first = objects.first else { return (0, nil) }
        var lines: [UInt8] = []
        for object in objects { lines += object.line }
        do throws(ControlError) {
            let upload = Once(bytes: lines)
            _ = try await typed {
                try await client.putLines(
                    upload, to: first.collection, replace: condition == .none, ifAbsent: condition == .absent,
                    space: space)
            }
            return (objects.count, nil)
        } catch {
            guard let line = error.line, line >= 1, line <= objects.count, Self.isOfOneObject(error.code) else {
                summary.newObjects += condition == .absent ? error.written ?? 0 : 0
                throw error
            }
            return (line - 1, error)
        }
    }

    private static func name(of object: ObjectPut) throws(ControlError) -> ObjectName {
        try ObjectName(collection: object.collection, id: object.id ?? "")
    }

    // MARK: What is not written

    private func leave(deleted name: ObjectName) {
        skipped.insert(name)
        summary.deletedObjects.append("\(name)")
    }

    private func refuse(_ name: ObjectName, _ error: ControlError) {
        skipped.insert(name)
        summary.refuse("\(name)", error)
    }

    /// Returns true if the error concerns one object, so that others may well be written.
    static func isOfOneObject(_ code: ErrorCode) -> Bool {
        switch code {
        case .objectDeleted, .undecided, .constantField, .alreadyExists, .typeMismatch, .objectIncomplete, .notFound,
            .catchingUp, .writingAgain, .invalidName, .tooLarge, .tooDeep, .numberOutOfRange:
            true
        case _: false
        }
    }
}

/// Bytes that come in one piece.
private struct Once: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    let bytes: [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }

    struct Iterator: AsyncIteratorProtocol {
        var bytes: [UInt8]?

        mutating func next() async throws(ControlError) -> [UInt8]? {
            defer { bytes = nil }
            return bytes
        }
    }
}
