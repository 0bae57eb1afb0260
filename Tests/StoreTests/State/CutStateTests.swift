import SyncModel
import SyncStore
import Testing

/// State between nodes that do not know the same of devices that were let go. 1 lets 3 go without having seen what 3 wrote
/// last; 2 has seen it; 4 takes state.
@Suite("Cuts in state")
struct CutStateTests {
    private let machines = Machines()

    private struct Four {
        let one: SQLiteStore
        let two: SQLiteStore
        let three: SQLiteStore
        let four: SQLiteStore

        var all: [SQLiteStore] { [one, two, three, four] }
    }

    /// `n/1` is everybody's but 4's; what is to be void is written, and with 2.
    private func four(faults: StoreFaults = []) throws -> Four {
        let four = Four(
            one: try machines.open(1), two: try machines.open(2), three: try machines.open(3),
            four: try machines.open(4, faults))
        _ = try four.one.append((1...5).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        for store in four.all.dropFirst() { try store.pull(from: four.one) }
        try four.one.write(.putting("n/1", #"{"x":1}"#))
        try four.two.pull(from: four.one)
        try four.three.pull(from: four.one)
        return four
    }

    private func writeBeyond(_ four: Four) throws {
        try four.three.write(.putting("n/1", #"{"x":3}"#), .putting("n/2", #"{"x":3}"#))
        _ = try four.three.append([[.event("s", "3")]], wallMilliseconds: 2)
        try four.two.pull(from: four.three)
    }

    private func retireThree(_ store: SQLiteStore) throws {
        _ = try store.append([.retire(TestDevice(3).id)], wallMilliseconds: 3)
    }

    private func expectSame(_ stores: [SQLiteStore], sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(Set(try stores.map { try $0.state().digest }).count == 1, sourceLocation: sourceLocation)
        for store in stores {
            #expect(try store.recomputedDigest(of: .home) == store.state().digest, sourceLocation: sourceLocation)
            #expect(try !store.state().isIncomplete, sourceLocation: sourceLocation)
        }
    }

    @Test func `what is void is not handed over, and the cut is`() throws {
        let four = try four()
        try writeBeyond(four)
        try retireThree(four.one)
        try four.two.pull(from: four.one)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try four.four.find("n") == ["n/1"])
        #expect(try four.four.state().cuts.isAway(TestDevice(3).id))
        #expect(try four.four.state().counts.events == 1)
        try expectSame([four.two, four.four])
        // What comes behind it as changes is judged as everywhere.
        try four.three.write(.putting("n/3", #"{"x":3}"#))
        for store in [four.two, four.four] { try store.pull(from: four.three) }
        #expect(try four.four.find("n") == ["n/1"])
        try expectSame([four.two, four.four])
    }

    @Test func `a cut that comes with a state undoes what is here`() throws {
        let four = try four()
        try four.four.pull(from: four.one)
        try writeBeyond(four)
        try four.four.pull(from: four.three)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
        try retireThree(four.one)
        try four.one.write(.putting("n/4", #"{"x":4}"#))
        try four.four.take(stateOf: four.one)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try four.four.find("n") == ["n/1", "n/4"])
        try four.one.pull(from: four.three)
        try expectSame([four.one, four.four])
    }

    @Test func `state of somebody who does not know the cut is not taken, but what he knows is`() throws {
        let four = try four()
        try writeBeyond(four)
        try retireThree(four.one)
        try four.four.pull(from: four.one)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try !four.four.vector.covers(four.two.vector), "nothing was joined")
        try four.two.pull(from: four.one)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.vector == four.two.vector)
        try expectSame([four.two, four.four])
    }

    @Test func `taken all the same it stays for ever`() throws {
        let four = try four(faults: .stateIgnoresCuts)
        try writeBeyond(four)
        try retireThree(four.one)
        try four.four.pull(from: four.one)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
    }

    @Test func `an object whose past came as state is taken whole from a member that has not what is void`() throws {
        let four = try four()
        try four.four.take(stateOf: four.one)
        try writeBeyond(four)
        try four.four.pull(from: four.three)
        try four.four.write(.putting("n/5", #"{"x":5}"#))
        try retireThree(four.one)
        try four.one.write(.putting("n/6", #"{"x":6}"#))
        let acknowledged = try four.four.vector
        // 4 wrote behind what is void: his word keeps it, until he is let go as well.
        try four.four.pull(from: four.one)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
        #expect(try four.four.vector.covers(acknowledged))
        try four.two.pull(from: four.four)
        try four.one.pull(from: four.four)
        try four.one.pull(from: four.three)
        try four.one.pull(from: four.four)
        try expectSame([four.one, four.four])
    }

    @Test func `what was written on what came as state is undone with nobody's help`() throws {
        let four = try four()
        try four.four.take(stateOf: four.one)
        try writeBeyond(four)
        try four.four.pull(from: four.three)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
        try retireThree(four.one)
        try four.four.pull(from: four.one)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try four.four.find("n") == ["n/1"])
        try four.one.pull(from: four.three)
        try expectSame([four.one, four.four])
    }

    @Test func `who cannot undo what is void hands nothing over until it is told what is there`() throws {
        let four = try four()
        try four.one.write(.putting("n/6", #"{"x":6}"#))
        try four.three.pull(from: four.one)
        try writeBeyond(four)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
        try retireThree(four.one)
        try four.two.pull(from: four.one)
        try four.four.pull(from: four.one)
        #expect(try four.four.state().isIncomplete)
        #expect(throws: StoreError.refused(.incomplete)) { try four.four.stateSource(.init(since: VersionVector())) }
        let reopened = try machines.reopen(four.four, 3)
        #expect(try reopened.state().isIncomplete, "a crash forgets nothing")
        // What is written meanwhile stays; of 2's objects only that comes which is not here just so.
        try reopened.write(.putting("n/5", #"{"x":5}"#))
        let sent = try reopened.take(stateOf: four.two)
        #expect(sent == ["n/1"])
        #expect(try reopened.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try reopened.find("n") == ["n/1", "n/5", "n/6"])
        // 5 was written by somebody who knew the cut, so it keeps nothing.
        try four.two.pull(from: reopened)
        #expect(try four.two.json("n/1") == JSONValue(json: #"{"x":1}"#))
        try expectSame([four.two, reopened])
    }

    @Test func `who holds a void stretch only as state waits for a member that knows it`() throws {
        let four = try four()
        try writeBeyond(four)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
        try retireThree(four.one)
        try four.four.pull(from: four.one)
        #expect(try four.four.state().isIncomplete)
        // 1 does not know what 4 has as state.
        try four.four.take(stateOf: four.one)
        #expect(try four.four.state().isIncomplete)
        try four.two.pull(from: four.one)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try four.four.find("n") == ["n/1"])
        try expectSame([four.two, four.four])
    }

    @Test(arguments: [false, true])
    func `an edit that a deletion dropped is listed once when the object is taken whole`(editComesFirst: Bool) throws {
        let four = try four()
        try writeBeyond(four)
        try four.four.take(stateOf: four.two)
        try retireThree(four.one)
        try four.two.pull(from: four.one)
        try four.four.pull(from: four.one)
        #expect(try four.four.state().isIncomplete)
        // 1 deletes without a look at the edit. 2 hears of neither before it hands over what it has.
        if editComesFirst { try four.four.write(.putting("n/1", #"{"y":4}"#)) }
        try four.one.write(.deleting("n/1"))
        let edit = try machines.open(5)
        try edit.pull(from: four.two)
        if !editComesFirst { try edit.write(.putting("n/1", #"{"y":4}"#)) }
        try four.four.pull(from: four.one)
        if !editComesFirst { try four.four.pull(from: edit) }
        try four.four.take(stateOf: four.two)
        #expect(try !four.four.state().isIncomplete)
        #expect(try four.four.object("n/1")?.droppedEdits.map(\.count) == [1])
        try four.two.pull(from: four.four)
        try expectSame([four.two, four.four])
    }

    @Test func `a void life goes of which the sender has not heard, with an object of which it has nothing`() throws {
        let four = try four()
        try four.one.write(.schema("n", #"{"deletePolicy":"lastWriterWins"}"#))
        for store in four.all.dropFirst() { try store.pull(from: four.one) }
        try writeBeyond(four)
        // 4 has the first life of `n/2` as state, and the second one, of which 2 does not hear in time, as changes.
        try four.four.take(stateOf: four.two)
        try four.three.write(.deleting("n/2"))
        try four.three.write(.putting("n/2", #"{"x":4}"#))
        try four.four.pull(from: four.three)
        try retireThree(four.one)
        for store in [four.two, four.four] { try store.pull(from: four.one) }
        #expect(try four.four.state().isIncomplete)
        #expect(try four.four.json("n/2") == JSONValue(json: #"{"x":4}"#), "nor can it be undone here")
        try four.four.write(.putting("n/5", #"{"x":5}"#))
        try four.four.take(stateOf: four.two)
        #expect(try four.four.find("n") == ["n/1", "n/5"])
        try four.two.pull(from: four.three)
        try four.two.pull(from: four.four)
        #expect(try four.two.vector == four.four.vector)
        try expectSame([four.two, four.four])
    }

    @Test func `a word that keeps what came void as state brings it back`() throws {
        let four = try four()
        try writeBeyond(four)
        try four.two.write(.putting("n/7", #"{"x":7}"#))
        try retireThree(four.one)
        // 1 holds it as void; 4 gets that as state, and then hears of 2's word.
        try four.one.pull(from: four.three)
        try four.four.take(stateOf: four.one)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        try four.four.pull(from: four.two)
        #expect(try four.four.state().isIncomplete)
        try four.one.pull(from: four.two)
        #expect(try four.one.json("n/1") == JSONValue(json: #"{"x":3}"#))
        try four.four.take(stateOf: four.one)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
        #expect(try four.four.find("n") == ["n/1", "n/2", "n/7"])
        try expectSame([four.one, four.four])
    }

    @Test func `what came void as state comes when it counts, also when its author did more there since`() throws {
        let four = try four()
        try writeBeyond(four)
        try four.two.write(.putting("n/7", #"{"x":7}"#))
        try retireThree(four.one)
        try four.one.pull(from: four.three)
        try four.four.take(stateOf: four.one)
        // Held as a change, and void, too, until 2 says that it has built on it.
        try four.three.write(.putting("n/1", #"{"y":9}"#))
        try four.two.pull(from: four.three)
        try four.two.write(.putting("n/8", #"{"x":8}"#))
        for store in [four.four, four.one] {
            try store.pull(from: four.three)
            try store.pull(from: four.two)
        }
        #expect(try four.four.state().isIncomplete)
        try four.four.take(stateOf: four.one)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3,"y":9}"#))
        try expectSame([four.one, four.four])
    }

    @Test func `two who know different things by state alone learn both`() throws {
        let four = try four()
        try writeBeyond(four)
        let five = try machines.open(5)
        try four.four.take(stateOf: four.two)
        try retireThree(four.one)
        try five.take(stateOf: four.one)
        // Neither has as changes what the other lacks.
        try five.take(stateOf: four.four)
        #expect(try five.json("n/1") == JSONValue(json: #"{"x":1}"#), "nothing void was joined")
        try four.four.take(stateOf: five)
        // Nor can 4 undo what it has as state alone: it waits for somebody who can say what is there.
        #expect(try four.four.state().isIncomplete)
        #expect(try four.four.state().cuts.isAway(TestDevice(3).id))
        #expect(try five.json("n/1") == JSONValue(json: #"{"x":1}"#), "nothing void was joined")
        try four.two.pull(from: four.one)
        try four.four.take(stateOf: four.two)
        try five.take(stateOf: four.two)
        try expectSame([four.two, four.four, five])
    }

    @Test func `who was let in by a device that came back is heard before it has heard of that`() throws {
        let four = try four()
        let five = try machines.open(5)
        try four.three.write(.putting("n/3", #"{"x":3}"#))
        for store in [four.one, four.two] { try store.pull(from: four.three) }
        try retireThree(four.one)
        // 5 knows the cut, and not that 3 is back and has let it in.
        try five.pull(from: four.one)
        try five.write(.putting("n/5", #"{"x":5}"#))
        try four.two.pull(from: four.one)
        _ = try four.two.append([[.addMember(TestDevice(3).fact)]], wallMilliseconds: 4)
        try four.three.pull(from: four.two)
        _ = try four.three.append([[.addMember(TestDevice(5).fact)]], wallMilliseconds: 5)
        try four.two.pull(from: four.three)
        try four.two.take(stateOf: five)
        #expect(try four.two.vector.covers(five.vector))
        #expect(try four.two.find("n") == ["n/1", "n/3", "n/5"])
        try four.three.pull(from: five)
        #expect(try four.two.vector == four.three.vector)
        try expectSame([four.two, four.three])
    }

    @Test func `of a state that is not taken no history speaks here that is not held`() throws {
        let four = try four()
        try writeBeyond(four)
        // A word that keeps that, and something behind it that 2 holds and has not built on.
        try four.two.write(.putting("n/7", #"{"x":7}"#))
        try four.three.write(.putting("n/3", #"{"x":3}"#))
        try four.two.pull(from: four.three)
        try retireThree(four.one)
        try four.one.pull(from: four.three)
        try four.four.pull(from: four.one)
        try expectSame([four.one, four.four])
        // 2 has not heard of the cut: `n/3` counts there.
        try four.four.take(stateOf: four.two)
        #expect(try four.four.vector == four.one.vector, "nothing was joined")
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        try expectSame([four.one, four.four])
        try four.two.pull(from: four.one)
        try four.four.take(stateOf: four.two)
        #expect(try four.four.json("n/1") == JSONValue(json: #"{"x":3}"#))
        #expect(try four.four.find("n") == ["n/1", "n/2", "n/7"])
        try expectSame([four.two, four.four])
    }
}

extension SQLiteStore {
    /// As an agent takes it.
    /// - Returns: the objects of which more than their names came.
    @discardableResult
    fileprivate func take(stateOf sender: SQLiteStore) throws -> [String] {
        var staging = try beginStaging()
        let source = try sender.stateSource(staging.request)
        defer { source.close() }
        var sent: [String] = []
        var announced: StateAnnouncement?
        while let (item, bytes) = try source.next(unless: { announcement throws(StoreError) in
            try areStaged([announcement])[0]
        }) {
            if case .announcement(let announcement) = item { announced = announcement }
            if case .object = item, let key = announced?.key {
                sent.append("\(key.collection.string)/\(key.id.string)")
            }
            try stage([bytes], of: &staging)
        }
        _ = try joinStaged(wallMilliseconds: 1)
        return sent.sorted()
    }
}
