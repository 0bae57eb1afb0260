import SyncModel
import SyncStore
import Testing

/// Two devices write beside each other's words while both are away, and are retired. The one that comes back first writes its work again
/// while what it stands beside counts nowhere.
@Suite("Store contract: written beside what counts nowhere") struct WrittenBesideTests {
    private static let schema = #"{"fields":{"body":"text","items":"list","order":"orderedSet","tags":"set"}}"#

    /// 1 is the member that stays. 2 writes, 0 beside it, and 1 retires both.
    private func retired(_ kind: StoreKind) throws -> [SQLiteStore] {
        let stores = try introduced(kind, count: 3)
        try stores[1].write(.schema("note", Self.schema))
        try stores[1].write(.putting("note/1", #"{"body":"Dear all.","items":["a"],"order":["a"]}"#))
        try converge(stores)
        try stores[2].write(.editing("note/1", "body", .set("Dear all. Theirs.")))
        try stores[2].write(
            .editing("note/1", "items", .insert(at: 1, "theirs")), .editing("note/1", "order", .insert(at: 1, "theirs"))
        )
        try stores[0].pull(from: stores[2])
        try stores[0].write(.editing("note/1", "body", .set("Dear all. Theirs. Mine.")))
        try stores[0].write(.editing("note/1", "body", .set("Dear all. Theirs. Mine, too.")))
        try stores[0].write(
            .editing("note/1", "items", .insert(at: 2, "mine")), .editing("note/1", "order", .insert(at: 2, "mine")))
        for device in [3, 1] { _ = try stores[1].append([.retire(TestDevice(UInt8(device)).id)], wallMilliseconds: 1) }
        try stores[0].pull(from: stores[1])
        return stores
    }

    private func comeBack(_ store: SQLiteStore, _ device: UInt8, by other: SQLiteStore) throws {
        _ = try other.append([[.addMember(TestDevice(device).fact)]], wallMilliseconds: 1)
        try store.pull(from: other)
        while try store.rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {}
    }

    private func words(_ value: JSONValue?, _ field: String) -> String {
        guard case .object(let members) = value else { return "" }
        return members.first { $0.key == ExactString(field) }.map { "\($0.value)" } ?? ""
    }

    private func titles(_ store: SQLiteStore) throws -> [String] {
        guard let state = try store.object(ObjectKey("note/1"), space: .home)?.state,
            case .live(let births) = state.judgement
        else { return [] }
        let values = births.flatMap { state.fields(of: $0)?["title"]?.register.values ?? [] }
        return values.map { "\($0)" }.sorted()
    }

    @Test(arguments: StoreKind.allCases)
    func `no word and no element is lost`(kind: StoreKind) throws {
        let stores = try retired(kind)
        let waiting = try #require(try stores[0].shownObject(ObjectKey("note/1"), space: .home))
        let shown = waiting.value(at: ["body"], nil).map { "\($0)" } ?? ""
        #expect(shown.contains(" Mine, too.") && shown.contains("Dear all."), "its own screen shows \(shown)")
        try comeBack(stores[0], 1, by: stores[1])
        try converge(Array(stores[0...1]))
        for store in stores[0...1] {
            let json = try store.json("note/1")
            #expect(words(json, "body").contains(" Mine, too."), "\(words(json, "body"))")
            #expect(words(json, "body").contains("Dear all.") && !words(json, "body").contains("Theirs"))
            for field in ["items", "order"] { #expect(words(json, field).contains("mine"), "\(words(json, field))") }
        }
        // The other one comes later.
        try stores[2].pull(from: stores[1])
        try comeBack(stores[2], 3, by: stores[1])
        try converge(stores)
        for store in stores {
            let json = try store.json("note/1")
            for word in ["Dear all.", " Theirs.", " Mine, too."] {
                #expect(words(json, "body").contains(word), "\(words(json, "body"))")
            }
            for field in ["items", "order"] {
                #expect(words(json, field).contains("mine") && words(json, field).contains("theirs"))
            }
            #expect(try store.recomputedDigest(of: .home) == store.state().digest)
        }
        #expect(Set(try stores.map { try $0.state().digest }).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `words stay in place where the other device has written its own again`(kind: StoreKind) throws {
        let stores = try retired(kind)
        try stores[2].pull(from: stores[1])
        try comeBack(stores[2], 3, by: stores[1])
        try stores[1].pull(from: stores[2])
        try stores[0].pull(from: stores[1])
        let before = try #require(try stores[0].shownObject(ObjectKey("note/1"), space: .home))
        #expect(before.value(at: ["body"], nil) == "Dear all. Theirs. Mine, too.")
        try comeBack(stores[0], 1, by: stores[1])
        try converge(stores)
        for store in stores {
            let json = try store.json("note/1")
            #expect(words(json, "body") == "\"Dear all. Theirs. Mine, too.\"")
            for field in ["items", "order"] { #expect(words(json, field) == #"["a","theirs","mine"]"#) }
            #expect(try store.recomputedDigest(of: .home) == store.state().digest)
        }
    }

    /// 2 creates an object, 0 goes on with it, and 1 edits it once 2 is back.
    @Test(arguments: StoreKind.allCases)
    func `an edit of what another device wrote again stands beside what others wrote since`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 3)
        try stores[1].write(.schema("note", Self.schema))
        try converge(stores)
        try stores[2].write(.putting("note/1", #"{"title":"first","body":"Theirs.","tags":["x","y"]}"#))
        try stores[0].pull(from: stores[2])
        try stores[0].write(
            .editing("note/1", "title", .set("mine")), .editing("note/1", "body", .set("Theirs. Mine.")),
            .editing("note/1", "tags", .remove("x")))
        for device in [3, 1] { _ = try stores[1].append([.retire(TestDevice(UInt8(device)).id)], wallMilliseconds: 1) }
        for store in [stores[0], stores[2]] { try store.pull(from: stores[1]) }
        try comeBack(stores[2], 3, by: stores[1])
        try stores[1].pull(from: stores[2])
        try stores[1].write(.editing("note/1", "title", .set("a member's")))
        try comeBack(stores[0], 1, by: stores[1])
        try converge(stores)
        for store in stores {
            #expect(try titles(store) == [#""a member's""#, #""mine""#])
            #expect(words(try store.json("note/1"), "tags") == #"["y"]"#)
            #expect(words(try store.json("note/1"), "body") == "\"Theirs. Mine.\"")
        }
        #expect(Set(try stores.map { try $0.state().digest }).count == 1)
    }

    /// 2 inserts an element, 0 edits the list behind it in one go, and comes back first.
    private func back(_ kind: StoreKind, _ actions: FieldEdit.Action...) throws -> SQLiteStore {
        let stores = try introduced(kind, count: 3)
        try stores[1].write(.schema("note", Self.schema))
        try stores[1].write(.putting("note/1", #"{"items":["a"]}"#))
        try converge(stores)
        try stores[2].write(.editing("note/1", "items", .insert(at: 1, "theirs")))
        try stores[0].pull(from: stores[2])
        let edits = actions.map { FieldEdit(path: ["items"], action: $0) }
        try stores[0].write(.edit(ObjectKey("note/1"), edits, .init()))
        for device in [3, 1] { _ = try stores[1].append([.retire(TestDevice(UInt8(device)).id)], wallMilliseconds: 1) }
        try stores[0].pull(from: stores[1])
        try comeBack(stores[0], 1, by: stores[1])
        return stores[0]
    }

    private func isListed(_ store: SQLiteStore) throws -> Bool {
        try store.object(ObjectKey("note/1"), space: .home)?.droppedEdits.isEmpty == false
    }

    @Test(arguments: StoreKind.allCases)
    func `what is put behind an element that cannot be moved is not lost`(kind: StoreKind) throws {
        let store = try back(kind, .move(from: 1, to: 0), .insert(at: 1, "mine"))
        #expect(words(try store.json("note/1"), "items").contains("mine"))
        #expect(try isListed(store))
    }

    @Test(arguments: StoreKind.allCases)
    func `only an edit of an element that counts nowhere is listed`(kind: StoreKind) throws {
        let moved = try back(kind, .move(from: 1, to: 0))
        #expect(words(try moved.json("note/1"), "items") == #"["a"]"#)
        #expect(try isListed(moved))
        #expect(try !isListed(back(kind, .insert(at: 2, "mine"))))
    }

    private enum Removal: CaseIterable {
        case word, element, orderedValue, orderedValues, value, field, changedField, entry, file

        /// What 2 writes.
        var write: ObjectWrite {
            switch self {
            case .word: .editing("note/1", "body", .set("Dear all. Theirs."))
            case .element: .editing("note/1", "items", .insert(at: 1, "theirs"))
            case .orderedValue, .orderedValues: .editing("note/1", "order", .insert(at: 1, "theirs"))
            case .value: .editing("note/1", "tags", .add("theirs"))
            case .field: .editing("note/1", "author", .set("theirs"))
            case .changedField: .editing("note/1", "title", .set("theirs"))
            case .entry: .editing("note/1", "map/theirs", .set(1))
            case .file: .attaching("theirs", to: "note/1")
            }
        }

        /// What 0 removes of it.
        func removal(_ store: SQLiteStore) throws -> ObjectWrite {
            switch self {
            case .word: .editing("note/1", "body", .set("Dear all."))
            case .element: .editing("note/1", "items", .delete(at: 1, count: 1))
            case .orderedValue: .editing("note/1", "order", .remove("theirs"))
            case .orderedValues: .editing("note/1", "order", .delete(at: 0, count: 2))
            case .value: .editing("note/1", "tags", .remove("theirs"))
            case .field: .editing("note/1", "author", .unset)
            case .changedField: .editing("note/1", "title", .unset)
            case .entry: .editing("note/1", "map/theirs", .unset)
            case .file: .detaching(try #require(try store.attachments().first).attachment.id, from: "note/1")
            }
        }
    }

    /// 0 removes what 2 wrote, comes back before it, or behind it.
    @Test(arguments: StoreKind.allCases, Removal.allCases)
    private func `a removal of what counts nowhere is listed`(kind: StoreKind, removal: Removal) throws {
        for isFirst in [true, false] {
            let stores = try introduced(kind, count: 3)
            try stores[1].write(.schema("note", Self.schema))
            try stores[1].write(
                .putting(
                    "note/1",
                    #"{"title":"A","body":"Dear all.","items":["a"],"order":["a"],"tags":["a"],"map":{"a":1}}"#))
            try converge(stores)
            try stores[2].write(removal.write)
            try stores[0].pull(from: stores[2])
            try stores[0].write(removal.removal(stores[0]))
            for device in [3, 1] {
                _ = try stores[1].append([.retire(TestDevice(UInt8(device)).id)], wallMilliseconds: 1)
            }
            let returns: [(Int, UInt8)] = isFirst ? [(0, 1), (2, 3)] : [(2, 3), (0, 1)]
            for (store, device) in returns {
                try stores[store].pull(from: stores[1])
                try comeBack(stores[store], device, by: stores[1])
                try stores[1].pull(from: stores[store])
            }
            try converge(stores)
            let json = try stores[0].json("note/1").map { "\($0)" } ?? ""
            let isThere = try json.lowercased().contains("theirs") || !stores[0].attached(to: "note/1").isEmpty
            #expect(try isListed(stores[0]) == isThere, "\(isFirst ? "first" : "behind"): \(json)")
            #expect(isThere || !isFirst)
            #expect(Set(try stores.map { try $0.state().digest }).count == 1)
        }
    }

    /// 2 was retired once, came back, and what it had written then counts nowhere ever since.
    @Test(arguments: StoreKind.allCases)
    func `a removal of what a member replaces meanwhile is not listed`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 3)
        try stores[1].write(.schema("note", Self.schema))
        try stores[1].write(.putting("note/1", #"{"title":"A","tags":["x","y"]}"#))
        try converge(stores)
        try stores[2].write(.editing("note/1", "title", .set("theirs")), .editing("note/1", "tags", .add("theirs")))
        _ = try stores[1].append([.retire(TestDevice(3).id)], wallMilliseconds: 1)
        try stores[2].pull(from: stores[1])
        try comeBack(stores[2], 3, by: stores[1])
        try converge(stores)
        #expect(try words(stores[0].json("note/1"), "title") == #""theirs""#)
        try stores[0].write(.editing("note/1", "title", .unset), .editing("note/1", "tags", .remove("x")))
        try stores[1].write(.editing("note/1", "title", .set("A")), .editing("note/1", "tags", .remove("x")))
        _ = try stores[1].append([.retire(TestDevice(1).id)], wallMilliseconds: 1)
        try stores[0].pull(from: stores[1])
        try comeBack(stores[0], 1, by: stores[1])
        try converge(stores)
        #expect(try words(stores[0].json("note/1"), "title") == #""A""#)
        #expect(try !isListed(stores[0]))
    }

    /// A deletion of 3 has dropped edits of 0, and a person has seen that. Then 3 is retired, too.
    @Test(arguments: StoreKind.allCases)
    func `what a person has dismissed hides nothing that is listed later`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 4)
        try stores[1].write(.schema("note", Self.schema))
        try stores[1].write(.putting("note/1", #"{"title":"A"}"#))
        try converge(stores)
        try stores[2].write(.editing("note/1", "tags", .add("theirs")))
        try stores[0].pull(from: stores[2])
        try stores[0].write(.editing("note/1", "tags", .remove("theirs")))
        try stores[0].write(.editing("note/1", "title", .set("B")))
        try stores[3].write(.deleting("note/1"))
        try stores[0].pull(from: stores[3])
        #expect(try isListed(stores[0]))
        try stores[0].write(.resolving("note/1", .dismiss))
        #expect(try !isListed(stores[0]))
        for device in [4, 3, 1] {
            _ = try stores[1].append([.retire(TestDevice(UInt8(device)).id)], wallMilliseconds: 1)
        }
        try stores[0].pull(from: stores[1])
        #expect(try !isListed(stores[0]))
        try comeBack(stores[0], 1, by: stores[1])
        #expect(try words(stores[0].json("note/1"), "title") == #""B""#)
        #expect(try isListed(stores[0]))
    }
}
