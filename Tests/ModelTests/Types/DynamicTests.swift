import Foundation
import SyncModel
import Testing

@Suite struct DynamicTests {
    private typealias Field = Document<ReplicatedValue>

    @Test func `two nodes that give one field different types both survive, and one is shown`() {
        var anna = Field(replica: People.anna)
        var ben = Field(replica: People.ben)
        anna.write { $0.record(.text(.create)) }
        ben.write { $0.record(.register(.set("hello"))) }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value.json() == "hello")
        #expect(anna.value.json(preferring: .text) == "")
        #expect(anna.value.otherTypes(preferring: .text) == [.register])
        #expect(anna.value.json(preferring: .counter) == "hello")
    }

    @Test func `what nests reads as JSON`() {
        var anna = Field(replica: People.anna)
        anna.write { draft in
            draft.record(.dictionary(.update("plays", .counter(.increment(by: 3)))))
            draft.record(.dictionary(.update("tags", .set(.add("b")))))
            draft.record(.dictionary(.update("tags", .set(.add(7)))))
            draft.record(.dictionary(.update("empty", .dictionary(.create))))
            draft.record(
                .dictionary(.update("tasks", .list(.insert(.after(nil, .end), [.register(.set("milk"))])))))
        }
        #expect(anna.value.json()?.text == #"{"empty":{},"plays":3,"tags":[7,"b"],"tasks":["milk"]}"#)
    }

    @Test func `removing a key below carries what was seen of the counters in it`() {
        var anna = Field(replica: People.anna)
        anna.write { draft in
            draft.record(.dictionary(.update("a", .dictionary(.update("n", .counter(.increment(by: 5)))))))
        }
        var ben = anna.forked(as: People.ben)
        ben.write { draft in
            draft.record(.dictionary(.update("a", .dictionary(.update("n", .counter(.increment(by: 2)))))))
        }
        anna.write { draft in
            if let removal = draft.value.dictionary.removing("a") { draft.record(.dictionary(removal)) }
        }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value.json()?.text == #"{"a":{"n":2}}"#)
    }

    @Test func `nesting ends at its bound, for operations and for states`() throws {
        func nested(_ depth: Int) -> ReplicatedValue.Operation {
            depth == 0 ? .register(.set(1)) : .dictionary(.update("k", nested(depth - 1)))
        }
        let deepest = nested(ByteReader.maximumDepth - 1)
        #expect(deepest.depth == ByteReader.maximumDepth)
        #expect(try ReplicatedValue.Operation(canonicalBytes: deepest.canonicalBytes) == deepest)
        #expect(throws: CodecError.outOfRange(field: "depth")) {
            try ReplicatedValue.Operation(canonicalBytes: nested(ByteReader.maximumDepth).canonicalBytes)
        }
        var anna = Field(replica: People.anna)
        anna.write { $0.record(deepest) }
        #expect(try ReplicatedValue(canonicalBytes: anna.value.canonicalBytes) == anna.value)
        anna.write { $0.record(nested(ByteReader.maximumDepth)) }
        #expect(throws: CodecError.outOfRange(field: "depth")) {
            try ReplicatedValue(canonicalBytes: anna.value.canonicalBytes)
        }
    }

    @Test func `the removal of the deepest counter can be read`() throws {
        func nested(_ depth: Int) -> ReplicatedValue.Operation {
            depth == 0 ? .counter(.increment(by: 1)) : .dictionary(.update("k", nested(depth - 1)))
        }
        var anna = Field(replica: People.anna)
        anna.write { $0.record(nested(ByteReader.maximumDepth - 1)) }
        let removal = anna.value.removal
        #expect(try Removal(canonicalBytes: removal.canonicalBytes) == removal)
        anna.write { draft in
            if let removing = draft.value.dictionary.removing("k") { draft.record(.dictionary(removing)) }
        }
        #expect(!anna.value.isLive)
    }

    @Test func `bytes that end early or say the same otherwise are refused`() {
        var anna = Field(replica: People.anna)
        anna.write { draft in
            draft.record(.dictionary(.update("a", .register(.set("x")))))
            draft.record(.dictionary(.update("b", .counter(.increment(by: 2)))))
            draft.record(.register(.set(nested)))
        }
        let bytes = anna.value.canonicalBytes
        for length in 0..<bytes.count {
            #expect(throws: CodecError.self) { try ReplicatedValue(canonicalBytes: Array(bytes[..<length])) }
        }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x41
            // Another value, or none; never a second form of this one.
            if let other = try? ReplicatedValue(canonicalBytes: changed) {
                #expect(other != anna.value)
                #expect(other.canonicalBytes == changed)
            }
        }
    }

    private let nested: JSONValue = [1, "two", [true, .null]]

    /// Three replicas edit, ship changes, merge and send deltas in any mixture; in the end all are equal, and so is what
    /// a fourth makes of the changes alone.
    @Test(arguments: 0..<60) func `every road leads to one value`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var nodes = [People.anna, People.ben, People.cleo].map { Field(replica: $0) }
        var log: [DocumentChange<ReplicatedValue.Operation>] = []
        for step in 0..<80 {
            let (one, other) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let change = nodes[one].write(Int64(step % 7)) { draft in
                    for _ in 0..<Int.random(in: 1..<3, using: &random) {
                        draft.record(random.operation(on: draft.value, by: draft.origin.dot.replica, depth: 2))
                    }
                }
                if let change { log.append(change) }
            case 6: nodes[one].merge(nodes[other])
            case 7: try nodes[one].join(nodes[other].delta(since: nodes[one].vector))
            default: for change in log { try? nodes[one].apply(change) }
            }
            let bytes = nodes[one].value.canonicalBytes
            #expect(try ReplicatedValue(canonicalBytes: bytes) == nodes[one].value)
        }
        var replayed = Field(replica: People.replica(9))
        for change in log { try replayed.apply(change) }
        for one in 0..<3 {
            for other in 0..<3 { nodes[one].merge(nodes[other]) }
        }
        for node in nodes {
            #expect(node.value == replayed.value)
            #expect(node.value.canonicalBytes == replayed.value.canonicalBytes)
            let copy = try JSONDecoder().decode(ReplicatedValue.self, from: JSONEncoder().encode(node.value))
            #expect(copy == node.value)
        }
    }
}

extension SeededGenerator {
    /// Something an author might do, now and then with the wrong type.
    fileprivate mutating func operation(
        on value: ReplicatedValue, by author: ReplicaID, depth: Int
    ) -> ReplicatedValue.Operation {
        let element: JSONValue = .integer(Int64(next() % 4))
        switch Int.random(in: 0..<(depth > 0 ? 16 : 7), using: &self) {
        case 0: return .register(.set(element))
        case 1: return .constant(.set(element))
        case 2: return .counter(.increment(by: Int64(next() % 9) - 4))
        case 3: return .set(chance(60) ? .add(element) : .remove(element))
        case 4: return .addOnlySet(chance(20) ? .create : .add(element))
        case 5:
            let set = value.orderedSet
            let change =
                chance(60) || set.isEmpty
                ? set.operation(inserting: [element], at: Int.random(in: 0...set.count, using: &self), by: author)
                : set.operation(removing: 0..<1)
            return .orderedSet(change ?? .create)
        case 6: return text(value.text, by: author)
        case 7, 8, 9: return list(value.list, by: author, depth: depth)
        default:
            let key = ExactString("k\(next() % 3)")
            let dictionary = value.dictionary
            if chance(35), let removal = dictionary.removing(key) { return .dictionary(removal) }
            if chance(5) { return .dictionary(.create) }
            return .dictionary(
                .update(key, operation(on: dictionary.state(of: key), by: author, depth: depth - 1)))
        }
    }

    private mutating func text(_ text: ReplicatedText, by author: ReplicaID) -> ReplicatedValue.Operation {
        let offset = Int.random(in: 0...text.count, using: &self)
        let change =
            chance(60) || text.isEmpty
            ? text.operation(inserting: "ab", at: offset, by: author)
            : text.operation(deleting: min(offset, text.count - 1)..<text.count, by: author)
        return .text(change ?? .create)
    }

    private mutating func list(
        _ list: ReplicatedList<ReplicatedValue>, by author: ReplicaID, depth: Int
    ) -> ReplicatedValue.Operation {
        let index = Int.random(in: 0...list.count, using: &self)
        if list.isEmpty || chance(40) {
            let made = operation(on: ReplicatedValue(), by: author, depth: depth - 1)
            return .list(list.operation(inserting: [made], at: index, by: author) ?? .create)
        }
        let place = min(index, list.count - 1)
        if chance(30) { return .list(list.operation(deleting: place..<place + 1, by: author) ?? .create) }
        if chance(40) { return .list(list.operation(moving: place, to: 0, by: author) ?? .create) }
        let edit = operation(on: list[place], by: author, depth: depth - 1)
        return .list(list.operation(editing: place, edit, by: author))
    }
}
