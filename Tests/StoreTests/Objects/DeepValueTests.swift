import SyncModel
import SyncStore
import Testing

/// What a peer may say it may say: a store reads back whatever it took, down to the deepest nesting.
@Suite("Store contract: the deepest values")
struct DeepValueTests {
    private static func arrays(_ depth: Int) -> JSONValue {
        (0..<depth).reduce(JSONValue.integer(1)) { nested, _ in .array([nested]) }
    }

    /// A register with a value of so many arrays, in so many dictionaries or lists.
    private static func nested(_ depth: Int, inList: Bool, json: Int) -> ReplicatedValue.Operation {
        (0..<depth).reduce(ReplicatedValue.Operation.register(.set(arrays(json)))) { nested, _ in
            inList ? .list(.insert(.after(nil, .end), [nested])) : .dictionary(.update("k", nested))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what can be written can be read, after opening too, here and at a peer`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        var isTaken: [Bool] = []
        for inList in [false, true] {
            for (depth, json) in [(0, 62), (0, 63), (0, 64), (0, 65), (30, 30), (62, 0), (63, 0), (64, 0), (31, 34)] {
                let edit = Operation.ObjectEdit(
                    object: ObjectKey("c/\(inList)-\(depth)-\(json)"), life: .birth,
                    edits: [.update("f", Self.nested(depth, inList: inList, json: json))])
                let result = try store.append([.operations([.editObject(edit)])], wallMilliseconds: 1)
                isTaken.append((try? result.outcomes[0].get()) != nil)
            }
        }
        for depth in 60...66 {
            let edit = Operation.SchemaEdit(collection: "c", entries: [.init(key: "x", value: Self.arrays(depth))])
            let result = try store.append([.operations([.editSchema(edit)])], wallMilliseconds: 1)
            isTaken.append((try? result.outcomes[0].get()) != nil)
        }
        #expect(isTaken.contains(true) && isTaken.contains(false))
        let state = try store.state()
        store.close()
        let peer = try StoreBed(kind, device: TestDevice(2)).open()
        let opened = try bed.open()
        try peer.pull(from: opened)
        for one in [opened, peer] {
            #expect(try one.recomputedDigest(of: .home) == state.digest)
            #expect(try Int64(one.find("c").count) == state.counts.objects)
            for object in try one.changedObjects(of: nil, space: .home, after: 0, limit: .max) {
                #expect(try ObjectState(canonicalBytes: object.state.canonicalBytes) == object.state)
                #expect(try one.touches(of: object.key, space: .home).count == 1)
            }
        }
    }
}
