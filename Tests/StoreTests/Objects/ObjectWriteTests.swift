import SyncModel
import SyncStore
import Testing

/// What every store promises about writing objects.
@Suite("Store contract: writing objects")
struct ObjectWriteTests {
    @Test(arguments: StoreKind.allCases)
    func `a put is there at once and after opening again`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let written = try store.write(.putting("notes/one", #"{"title":"milk","tags":["a","b"],"n":null}"#), at: 77)
        let dots = try #require(written.dots)
        let before = try #require(try store.object("notes/one"))
        #expect(before.version == dots.upperBound && written.steps.map(\.version) == [dots.upperBound])
        #expect(written.steps.map(\.changed) == [true] && before.changedMilliseconds == 77)
        #expect(before.summary.standing == .live && !before.summary.hasConflict)
        #expect(try store.json("notes/one") == JSONValue(json: #"{"title":"milk","tags":["a","b"],"n":null}"#))
        let state = try store.state()
        #expect(state.counts.objects == 1 && state.counts.changes == 1 && state.counts.deletedObjects == 0)
        #expect(state.digest == before.summary.digest && state.digest != .zero)
        #expect(try store.objectPosition() == before.position && before.position > 0)
        store.close()
        let opened = try bed.open()
        #expect(try opened.state() == state)
        #expect(try opened.object("notes/one")?.state == before.state)
        #expect(try opened.json("notes/one") == JSONValue(json: #"{"title":"milk","tags":["a","b"],"n":null}"#))
        #expect(try opened.objectPosition() == before.position)
        #expect(try opened.recomputedDigest(of: .home) == state.digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `fields that are not named stay, and replacing removes them`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.putting("notes/one", #"{"a":1,"b":{"c":1,"d":2}}"#))
        try store.write(.putting("notes/one", #"{"b":{"c":5}}"#))
        #expect(try store.json("notes/one") == JSONValue(json: #"{"a":1,"b":{"c":5,"d":2}}"#))
        try store.write(.putting("notes/one", #"{"b":{"c":5}}"#, replacing: true))
        #expect(try store.json("notes/one") == JSONValue(json: #"{"b":{"c":5}}"#))
        #expect(try store.recomputedDigest(of: .home) == store.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `writing what is there writes nothing`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("notes", #"{"fields":{"title":"register"}}"#))
        try store.write(.putting("notes/one", #"{"title":"milk"}"#))
        let before = try store.state()
        let object = try store.object("notes/one")
        let unchanged: [ObjectWrite] = [
            .putting("notes/one", #"{"title":"milk"}"#), .putting("notes/one", "{}"), .deleting("notes/unknown"),
            .editing("notes/one", "absent", .unset), .resolving("notes/one", .keep), .resolving("notes/one", .dismiss),
            .schema("notes", #"{"fields":{"title":"register"}}"#),
        ]
        for write in unchanged {
            let outcome = try store.write(write)
            #expect(outcome.dots == nil && outcome.steps.map(\.changed) == [false], "\(write)")
        }
        #expect(try store.state() == before)
        #expect(try store.object("notes/one") == object)
    }

    @Test(arguments: StoreKind.allCases)
    func `one change takes writes of every kind, each seeing those before it`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let written = try store.write(
            .schema("songs", #"{"fields":{"plays":"counter","note":"local"},"deletePolicy":"ask"}"#),
            .putting("songs/one", #"{"plays":3,"note":"mine"}"#), .editing("songs/one", "plays", .increment(4)),
            .appendEvent(Operation.Event(stream: "played", type: nil, payload: Array("1".utf8))),
            .setStream(Operation.StreamSetting(stream: "played", latestOnly: true, retainMilliseconds: nil)),
            .putting("songs/two", "{}"), .deleting("songs/two"), .putting("albums/one", #"{"songs":["one"]}"#))
        #expect(try store.json("songs/one") == JSONValue(json: #"{"plays":7}"#))
        #expect(try store.object("songs/one")?.localFields == JSONValue(json: #"{"note":"mine"}"#).members)
        #expect(try store.object("songs/two")?.summary.standing == .deleted)
        #expect(try store.allEvents("played").count == 1)
        let state = try store.state()
        #expect(state.counts == StoreCounts(changes: 1, events: 1, objects: 2, deletedObjects: 1))
        let dots = try #require(written.dots)
        #expect(dots.lowerBound.counter == 0 && dots.upperBound.counter + 1 == state.tips[0].tip.next)
        #expect(written.steps.count == 8 && written.steps.allSatisfy(\.changed))
        #expect(written.steps[2].version == (try store.object("songs/one")?.version))
        #expect(try store.collections(of: .home).map(\.name) == ["albums", "songs"])
        #expect(try store.collections(of: .home).map { $0.schema != nil } == [false, true])
        #expect(try store.recomputedDigest(of: .home) == state.digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `writes of one commit see each other, and each is a change`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let writes =
            [ObjectWrite.putting("c/a", #"{"x":1}"#)] + (0..<9).map { .editing("c/a", "x", .set(.integer($0))) }
        let result = try store.append(
            (writes + [.putting("c/a", "{}", ifAbsent: true)]).map { .planned([$0]) }, wallMilliseconds: 1)
        let outcomes = try result.outcomes.prefix(10).map { try $0.get() }
        #expect(result.commit.counts.changes == 10)
        #expect(try result.commit.objectPosition == store.objectPosition())
        let versions = outcomes.compactMap { $0.steps[0].version }
        #expect(versions == versions.sorted() && versions.count == 10)
        #expect(
            result.outcomes[10] == .failure(WriteRefusal(step: 0, .exists(version: versions[9]))),
            "the last sees the nine before it")
        #expect(try store.json("c/a") == JSONValue(json: #"{"x":8}"#))
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting twice, and deleting what never was, is fine`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.putting("c/a", #"{"x":1}"#))
        #expect(try store.write(.deleting("c/a")).steps[0].changed)
        let deleted = try store.state()
        #expect(deleted.digest == .zero)
        #expect(deleted.counts.objects == 0 && deleted.counts.deletedObjects == 1)
        #expect(try !store.write(.deleting("c/a")).steps[0].changed)
        #expect(try !store.write(.deleting("c/never")).steps[0].changed)
        #expect(try store.state() == deleted)
        #expect(try store.find("c").isEmpty && store.find("c", .standing(.deleted)) == ["c/a"])
        #expect(try store.object("c/never") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `under updateWins a write to a deleted id begins anew, without what was there`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"deletePolicy":"updateWins","fields":{"draft":"local"}}"#))
        try store.write(.putting("c/a", #"{"x":1,"draft":"mine"}"#))
        try store.write(.deleting("c/a"))
        try store.write(.putting("c/a", #"{"y":2}"#))
        #expect(try store.json("c/a") == JSONValue(json: #"{"y":2}"#))
        #expect(try store.object("c/a")?.localFields == [])
        #expect(try store.state().counts.objects == 1 && store.state().counts.deletedObjects == 0)
        #expect(try store.recomputedDigest(of: .home) == store.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `a peer's copy is equal, whatever the sizes of the transactions it came in`(kind: StoreKind) throws {
        let source = try StoreBed(.memory, device: TestDevice(2)).open()
        try source.write(.schema("c", #"{"fields":{"n":"counter"},"indexed":["n"]}"#))
        for index in 0..<12 {
            try source.write(.putting("c/\(index % 4)", #"{"n":\#(index),"t":"\#(index)"}"#))
        }
        try source.write(.deleting("c/3"))
        for size in [1, 5, 100] {
            let store = try StoreBed(kind).open()
            let all = try store.missing(from: source)
            for start in stride(from: 0, to: all.count, by: size) {
                _ = try store.apply(Array(all[start..<min(start + size, all.count)]), wallMilliseconds: 0)
            }
            #expect(try store.state().digest == source.state().digest)
            #expect(try store.state().counts == source.state().counts)
            #expect(try store.recomputedDigest(of: .home) == store.state().digest)
            for name in ["c/0", "c/3"] {
                #expect(try store.object(name)?.state == source.object(name)?.state)
                #expect(try store.object(name)?.version == source.object(name)?.version)
            }
        }
    }
}
