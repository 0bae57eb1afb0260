import Foundation
import SyncModel
import SyncStore
import Testing

/// Large objects lie as a snapshot and the edits since: what is read is what a store that writes everything whole reads.
struct LargeObjectTests {
    private static let book = String(
        repeating: "It was a dark and stormy night; the rain fell in torrents.\n", count: 4_000)

    private static func typing(_ name: String, _ letter: String, at offset: Int) -> ObjectWrite {
        .editing(name, "body", .insert(at: offset, .string(ExactString(letter))))
    }

    /// A store with a book.
    private static func shelf(_ kind: StoreKind, _ device: UInt8 = 1) throws -> (StoreBed, SQLiteStore) {
        let bed = StoreBed(kind, device: TestDevice(device))
        let store = try bed.open()
        try store.write(.schema("book", #"{"fields":{"body":"text","title":"register"},"indexed":["title"]}"#))
        try store.write(
            .put(
                ObjectKey("book/one"),
                ObjectWrite.Put(fields: [
                    .init(key: "title", value: .string("Clifford")),
                    .init(key: "body", value: .string(ExactString(book))),
                ])))
        return (bed, store)
    }

    private static func isSame(_ left: SQLiteStore, _ right: SQLiteStore) throws -> Bool {
        try left.state().digest == right.state().digest && left.json("book/one") == right.json("book/one")
            && left.object("book/one")?.state == right.object("book/one")?.state
            && left.attachments() == right.attachments()
    }

    @Test(arguments: [false, true])
    func `a keystroke costs its own bytes on disk, open or sealed`(isOpen: Bool) throws {
        let (bed, first) = try Self.shelf(.sqliteOnDisk)
        if isOpen { try first.leaveOpen() }
        try first.write(Self.typing("book/one", "x", at: 100))
        first.close()
        func size() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: bed.directory).reduce(0) { sum, name in
                let attributes = try FileManager.default.attributesOfItem(atPath: bed.directory + "/" + name)
                return sum + (attributes[.size] as? Int ?? 0)
            }
        }
        let before = try size()
        let store = try bed.open()
        if isOpen { try store.leaveOpen() }
        for number in 0..<200 { try store.write(Self.typing("book/one", "y", at: 101 + number)) }
        #expect(try store.recomputedDigest(of: .home) == store.state().digest)
        store.close()
        let each = (try size() - before) / 200
        #expect(each <= 1_024, "\(each) bytes a keystroke in a text of \(Self.book.utf8.count)")
        let again = try bed.open()
        #expect(try again.recomputedDigest(of: .home) == again.state().digest)
        let body = try #require(try again.json("book/one")?["body"])
        guard case .string(let text) = body else {
            Issue.record("the body is \(body)")
            return
        }
        var expected = Array(Self.book.unicodeScalars)
        expected.insert(contentsOf: Array("x" + String(repeating: "y", count: 200)).flatMap(\.unicodeScalars), at: 100)
        #expect(Array(text.string.unicodeScalars) == expected)
    }

    @Test(arguments: [StoreKind.sqliteInTmpfs, .sqliteOfLargeObjects], 1...6 as ClosedRange<UInt64>)
    func `what two people type apart reads alike, whatever the form`(kind: StoreKind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let beds = [(kind, 1), (.memory, 1), (kind, 2), (.memory, 2)].map { StoreBed($0.0, device: TestDevice($0.1)) }
        var stores = try beds.map { try $0.open() }
        for store in stores[0...1] {
            _ = try store.append([1, 2].map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
            try store.write(.schema("book", #"{"fields":{"body":"text"}}"#))
            try store.write(.putting("book/one", #"{"body":"\#(String(repeating: "abc ", count: 4_000))"}"#))
        }
        for place in [2, 3] { try stores[place].pull(from: stores[place - 2]) }
        var length = 16_000
        for step in 0..<120 {
            let person = 2 * Int.random(in: 0..<2, using: &random)
            let offset = Int.random(in: 0..<length / 2, using: &random)
            let write: ObjectWrite =
                switch Int.random(in: 0..<10, using: &random) {
                case 0: .editing("book/one", "body", .delete(at: offset, count: 3))
                case 1: .editing("book/one", "title", .set(.integer(Int64(step))))
                case 2: .attaching(ExactString("page \(step)"), to: "book/one")
                case 3:
                    if let first = try stores[person].attachments().last {
                        .detaching(first.attachment.id, from: "book/one")
                    } else {
                        .attaching("cover", to: "book/one")
                    }
                case _: Self.typing("book/one", "👍é", at: offset)
                }
            length -= 3
            // In one commit with one that is refused, which must not leave a trace.
            let refused = ObjectWrite.editing("book/one", "body", .delete(at: 1 << 30, count: 1))
            for place in [person, person + 1] {
                _ = try stores[place].append(
                    [.planned([write]), .planned([Self.typing("book/one", "lost", at: 0), refused])],
                    wallMilliseconds: Int64(step))
            }
            #expect(try Self.isSame(stores[person], stores[person + 1]), "step \(step)")
            if step % 7 == 0 {
                for place in [person, person + 1] { try stores[place].pull(from: stores[(place + 2) % 4]) }
            }
            if step % 31 == 30 {
                for place in [person, person + 1] {
                    beds[place].crash(stores[place])
                    stores[place] = try beds[place].open()
                }
            }
            if step % 13 == 0 {
                let toggled = step % 2 == 0
                for place in [person, person + 1] {
                    if toggled { try stores[place].leaveOpen() } else { _ = try stores[place].seal() }
                }
            }
        }
        for store in stores { _ = try store.seal() }
        for place in [0, 1] {
            try stores[place].pull(from: stores[place + 2])
            try stores[place + 2].pull(from: stores[place])
        }
        for place in [0, 1] { try stores[place].pull(from: stores[place + 2]) }
        for store in stores[1...] { #expect(try Self.isSame(stores[0], store)) }
        for store in stores { #expect(try store.recomputedDigest(of: .home) == store.state().digest) }
    }

    @Test(arguments: StoreKind.allCases)
    func `letters typed alone ship as runs, and nobody can tell`(kind: StoreKind) throws {
        let (_, store) = try Self.shelf(kind)
        _ = try store.seal()
        let before = try store.state()
        let own = try #require(before.ownReplica)
        let start = try #require(before.tips.first { $0.replica == own }).tip.next
        try store.leaveOpen()
        let words = "The quick brown fox jumps over the lazy dog, twice: é 👩🏽‍🚀."
        for (number, scalar) in words.unicodeScalars.enumerated() {
            try store.write(Self.typing("book/one", String(scalar), at: 1_000 + number), at: Int64(number))
        }
        for number in 0..<4 {
            try store.write(
                .editing("book/one", "body", .delete(at: 1_000 + words.unicodeScalars.count - 1 - number, count: 1)))
        }
        let shown = (try store.json("book/one"), try store.object("book/one")?.version, try store.state().digest)
        _ = try store.seal()
        #expect(try store.json("book/one") == shown.0)
        #expect(try store.object("book/one")?.version == shown.1)
        #expect(try store.state().digest == shown.2)
        #expect(try store.recomputedDigest(of: .home) == shown.2)
        let shipped = try store.segments(of: own, from: start, byteBudget: .max)
        let bytes = shipped.reduce(0) { $0 + $1.bytes.count + $1.signature.count }
        let keystrokes = words.unicodeScalars.count + 4
        #expect(shipped.count == 1)
        #expect(bytes <= 10 * keystrokes, "\(bytes) bytes for \(keystrokes) keystrokes")
        #expect(try store.state().counts.changes == before.counts.changes + 1, "one change")
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        try other.pull(from: store)
        #expect(try Self.isSame(store, other))
        #expect(try other.object("book/one")?.version == shown.1)
    }

    /// Behind a paste too, and then something that is no typing.
    @Test(arguments: StoreKind.allCases)
    func `a run ends where something else begins`(kind: StoreKind) throws {
        let (_, store) = try Self.shelf(kind)
        _ = try store.seal()
        let before = try store.state().counts.changes
        try store.leaveOpen()
        let paste = String(repeating: "pasted ", count: 10_000)
        try store.write(Self.typing("book/one", paste, at: 10))
        for number in 0..<100 { try store.write(Self.typing("book/one", "k", at: 10 + 70_000 + number)) }
        try store.write(.editing("book/one", "title", .set(.string("Paul"))))
        for number in 0..<3 { try store.write(Self.typing("book/one", "l", at: number)) }
        for number in 0..<3 { try store.write(.editing("book/one", "body", .delete(at: 2 - number, count: 1))) }
        try store.write(Self.typing("book/one", "elsewhere", at: 5_000))
        let (shown, digest) = (try store.json("book/one"), try store.state().digest)
        _ = try store.seal()
        #expect(try store.state().counts.changes == before + 3, "the paste with its letters, the title, the rest")
        #expect(try store.json("book/one") == shown)
        #expect(try store.recomputedDigest(of: .home) == digest)
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        try other.pull(from: store)
        #expect(try Self.isSame(store, other))
    }

    /// Many who write at once, and all but one too late.
    @Test(arguments: [StoreKind.sqliteInTmpfs, .sqliteOfLargeObjects])
    func `refused writes of one commit leave the book as it is`(kind: StoreKind) throws {
        let (_, store) = try Self.shelf(kind)
        let version = try #require(try store.object("book/one")?.version)
        let late = LocalWrite.planned([
            .edit(
                ObjectKey("book/one"), [FieldEdit(path: ["body"], action: .insert(at: 0, .string("x")))],
                ObjectWrite.EditOptions(ifVersion: version))
        ])
        let result = try store.append([LocalWrite](repeating: late, count: 20), wallMilliseconds: 5)
        #expect(result.outcomes.filter { if case .success = $0 { true } else { false } }.count == 1)
        try store.write(Self.typing("book/one", "y", at: 1))
        guard case .string(let text)? = try store.json("book/one")?["body"] else {
            Issue.record("no body")
            return
        }
        #expect(text.string == "xy" + Self.book)
        #expect(try store.recomputedDigest(of: .home) == store.state().digest)
    }

    @Test(arguments: [StoreKind.sqliteInTmpfs])
    func `an edit can be answered without the book`(kind: StoreKind) throws {
        let (_, store) = try Self.shelf(kind)
        let outcome = try store.write(
            .edit(
                ObjectKey("book/one"), [FieldEdit(path: ["body"], action: .insert(at: 0, .string("x")))],
                ObjectWrite.EditOptions(isBrief: true)))
        #expect(outcome.steps.map(\.object) == [nil])
        #expect(try outcome.steps.first?.version == store.object("book/one")?.version)
    }

    // MARK: Members that the same transaction admits

    /// A store that has a book with an edit behind its snapshot, none of it in memory, and the author's.
    private static func readersShelf(_ kind: StoreKind, joining: Bool) throws -> (SQLiteStore, author: SQLiteStore) {
        let bed = StoreBed(kind, device: TestDevice(2))
        let (reader, author) = (try bed.open(), try StoreBed(.memory).open())
        // Its host says nothing of a founder, as before there were founders.
        if joining { _ = try reader.append([[.addMember(TestDevice(1).fact.asHost)]], wallMilliseconds: 1) }
        try author.write(.schema("book", #"{"fields":{"body":"text","title":"register"}}"#))
        // Nothing that is stored in few bytes: behind a small snapshot no edit stays one.
        var random = SeededGenerator(seed: 1)
        let text = String((0..<40_000).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random) ?? "a" })
        try author.write(.putting("book/one", #"{"title":"Clifford","body":"\#(text)"}"#))
        try reader.pull(from: author)
        try author.write(typing("book/one", "x", at: 0))
        try reader.pull(from: author)
        bed.crash(reader)
        return (try bed.open(), author)
    }

    @Test(arguments: StoreKind.allCases)
    func `an index is filled with what a member typed that the same transaction admits`(kind: StoreKind) throws {
        let (reader, author) = try Self.readersShelf(kind, joining: false)
        let member = try StoreBed(.memory, device: TestDevice(3)).open()
        _ = try author.append([[.addMember(TestDevice(3).fact)]], wallMilliseconds: 1)
        try member.pull(from: author)
        try member.write(Self.typing("book/one", "y", at: 1))
        try member.write(.schema("book", #"{"indexed":["title"]}"#))
        try author.pull(from: member)
        try reader.pull(from: author)
        #expect(try Self.isSame(reader, author))
        #expect(try reader.recomputedDigest(of: .home) == author.state().digest)
        #expect(try reader.find("book", where: "title", is: .string("Clifford")) == ["book/one"])
    }

    /// The transaction that admits it as a reader finds the founder as well, by whose word it is one.
    @Test(arguments: StoreKind.allCases)
    func `what a reader typed goes again where the same transaction finds the founder`(kind: StoreKind) throws {
        let (joined, founder) = try Self.readersShelf(kind, joining: true)
        let shown = try joined.json("book/one")
        let member = try StoreBed(.memory, device: TestDevice(3)).open()
        _ = try founder.append(
            [[.addMember(TestDevice(2).fact), .addMember(TestDevice(3).fact.asReader)]], wallMilliseconds: 1)
        try member.pull(from: founder)
        try member.write(Self.typing("book/one", "y", at: 1))
        try founder.pull(from: member)
        try founder.pull(from: joined)
        #expect(try joined.state().founder == nil)
        try joined.pull(from: founder)
        #expect(try joined.state().founder == TestDevice(1).id)
        #expect(try Self.isSame(joined, founder))
        #expect(try joined.json("book/one") == shown)
        #expect(try joined.recomputedDigest(of: .home) == founder.state().digest)
    }
}

extension MemberFact {
    fileprivate var asHost: MemberFact {
        MemberFact(
            subjectPublicKeyInfo: subjectPublicKeyInfo, signingKey: signingKey, binding: binding,
            discoveryKey: discoveryKey, role: role, name: name, isHost: true)
    }

    fileprivate var asReader: MemberFact {
        MemberFact(
            subjectPublicKeyInfo: subjectPublicKeyInfo, signingKey: signingKey, binding: binding,
            discoveryKey: discoveryKey, role: .reader, name: name)
    }
}
