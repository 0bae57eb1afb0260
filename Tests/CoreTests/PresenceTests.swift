import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Presence between cores: how it travels, how it ends, and what a member that turned bad can do with it.
@Suite struct PresenceTests {
    private static let devices = SimulatedDevice.all
    private static let features = SessionProtocol.features

    /// - Parameter signer: the device that signs; nil: the device itself.
    private func presence(
        of device: Int, _ sequence: UInt64, _ values: [String], run: UInt64 = 100, signer: Int? = nil
    ) -> SignedPresence {
        let entries = values.enumerated().map { number, value in
            PresenceRecord.Entry(topic: "t", session: UInt64(number), value: Array("\"\(value)\"".utf8))
        }
        let record = PresenceRecord(
            device: Self.devices[device].id, mark: PresenceMark(run: run, sequence: sequence), entries: entries)
        return SignedPresence(record, space: .home, sign: Self.devices[signer ?? device].sign)
    }

    private func frame(_ records: SignedPresence...) -> Frame {
        .presence(Frame.Presence(space: .home, records: records))
    }

    // MARK: Travel

    @Test func `presence reaches a member over a relay, crosses each link once, and goes at once`() {
        // A–B–C
        var (a, b, c) = (Conversation(own: 0), Conversation(own: 1), Conversation(own: 2))
        let (ab, ba) = (a.accept(1, features: Self.features), b.accept(0, features: Self.features))
        let (bc, cb) = (b.accept(2, features: Self.features), c.accept(1, features: Self.features))
        for (sequence, values) in [(1, ["x"]), (2, [])] as [(UInt64, [String])] {
            let signed = presence(of: 0, sequence, values)
            a.hear(.presenceChanged(signed))
            #expect(a.presences(ab) == [signed] && a.shown == nil)
            b.hear(.received(ba, frame(signed), bytes: 200))
            #expect(b.presences(bc) == [signed] && b.presences(ba).isEmpty)
            c.hear(.received(cb, frame(signed), bytes: 200))
            #expect(c.presences(cb).isEmpty)
            #expect(c.shown == (values.isEmpty ? [] : [signed.record]) && b.shown == c.shown)
            // The same over another way is no news.
            c.hear(.received(cb, frame(signed), bytes: 200))
            #expect(c.shown == nil && c.presences(cb).isEmpty)
        }
        #expect(b.core.counters.presencesSent == 2 && c.core.counters.presencesReceived == 2)
    }

    @Test func `a new session gets our own presence at once, and that of others when they renew it`() {
        var talk = Conversation(members: 4)
        let first = talk.accept(1, features: Self.features)
        let (ours, theirs) = (presence(of: 0, 1, ["us"]), presence(of: 1, 1, ["them"]))
        let (third, gone) = (presence(of: 2, 1, ["third"]), presence(of: 3, 1, ["gone"]))
        talk.hear(.received(first, frame(gone), bytes: 200))
        talk.wait(milliseconds: 8_000)
        talk.hear(.received(first, frame(theirs, third), bytes: 400))
        talk.hear(.presenceChanged(ours))
        talk.wait(milliseconds: 1)
        let second = talk.accept(2, features: Self.features)
        #expect(talk.presences(second) == [ours])
        talk.wait(milliseconds: 4_999)
        let renewed = presence(of: 1, 2, ["them"])
        // A record of the peer's own does not go back to it.
        talk.hear(.received(first, frame(renewed, presence(of: 2, 2, ["third"])), bytes: 400))
        #expect(talk.presences(second) == [renewed])
        // Here the lost one is still shown, for its 15 s.
        talk.wait(milliseconds: 2_000)
        let rest = [renewed, presence(of: 2, 2, ["third"])]
        #expect(talk.shown == rest.sorted { $0.device < $1.device }.map(\.record))
    }

    @Test func `a lost device is not shown for another lifetime by members that hear of it late`() {
        // A–B, then B–C 1 ms after the last record: C, and whom it meets, would show it for longer than B.
        var b = Conversation(own: 1, members: 5)
        let lost = presence(of: 0, 1, ["lost"])
        let ba = b.accept(0, features: Self.features)
        b.hear(.received(ba, frame(lost), bytes: 200))
        b.wait(milliseconds: 1)
        let bc = b.accept(2, features: Self.features)
        #expect(b.presences(bc).isEmpty)
        // That the last value went is passed on as long as it is known.
        let gone = presence(of: 0, 2, [])
        b.hear(.received(ba, frame(gone), bytes: 200))
        b.wait(milliseconds: 8_000)
        let late = b.accept(4, features: Self.features)
        #expect(b.presences(late) == [gone])
    }

    @Test func `the records of so many members are kept, and those that ended make room`() {
        var bounds = CoreConfiguration.Bounds()
        bounds.presencesKept = 2
        var talk = Conversation(members: 4, bounds: bounds)
        let id = talk.accept(1, features: Self.features)
        func hear(_ signed: SignedPresence) { talk.hear(.received(id, frame(signed), bytes: 200)) }
        hear(presence(of: 1, 1, ["x"]))
        hear(presence(of: 2, 1, ["y"]))
        hear(presence(of: 3, 1, ["z"]))
        #expect(talk.shown == nil && talk.core.counters.presencesDropped == 1)
        talk.wait(milliseconds: 8_000)
        hear(presence(of: 2, 2, ["y"]))
        talk.wait(milliseconds: 7_000)
        #expect(talk.shown == [presence(of: 2, 2, ["y"]).record])
        hear(presence(of: 3, 1, ["z"]))
        let kept = [presence(of: 2, 2, ["y"]), presence(of: 3, 1, ["z"])]
        #expect(talk.shown == kept.sorted { $0.device < $1.device }.map(\.record))
        #expect(talk.core.load.presenceBytes == kept.reduce(0) { $0 + $1.byteCount })
    }

    @Test func `a peer that does not know presence gets none, and gives none`() {
        var talk = Conversation()
        let id = talk.accept(1, features: Self.features & ~SessionProtocol.presence)
        talk.hear(.presenceChanged(presence(of: 0, 1, ["x"])))
        #expect(talk.presences(id).isEmpty)
        talk.hear(.received(id, frame(presence(of: 1, 1, ["y"])), bytes: 200))
        #expect(talk.shown == nil && talk.core.load.presenceBytes == presence(of: 0, 1, ["x"]).byteCount)
    }

    @Test func `presence waits while much is to be written to a peer`() {
        var bounds = CoreConfiguration.Bounds()
        bounds.presenceBufferBytes = 100
        var talk = Conversation(bounds: bounds)
        let id = talk.accept(1, features: Self.features)
        let (first, second, third) = (presence(of: 0, 1, ["a"]), presence(of: 0, 2, ["b"]), presence(of: 0, 3, ["c"]))
        talk.hear(.presenceChanged(first))
        #expect(talk.presences(id) == [first] && talk.core.load.bufferedBytes == first.byteCount)
        talk.hear(.presenceChanged(second))
        talk.hear(.presenceChanged(third))
        #expect(talk.presences(id).isEmpty)
        talk.hear(.written(id, bytes: first.byteCount + 30))
        #expect(talk.presences(id) == [third])
    }

    // MARK: Time

    @Test func `presence that is not renewed ends fifteen seconds after it was taken`() {
        var talk = Conversation()
        let id = talk.accept(1, features: Self.features)
        let relayed = talk.accept(2, features: Self.features)
        func renew(_ sequence: UInt64) { talk.hear(.received(id, frame(presence(of: 1, sequence, ["x"])), bytes: 200)) }
        renew(1)
        #expect(talk.shown?.count == 1)
        talk.wait(milliseconds: 5_000)
        renew(2)
        // It lives on, and that is passed on; nothing else is to be shown.
        #expect(talk.shown == nil && talk.presences(relayed) == [presence(of: 1, 2, ["x"])])
        let end = talk.now + .seconds(15)
        #expect(talk.core.nextDeadline.map { $0 <= end } ?? false)
        talk.hear(.received(relayed, .ping(Frame.Ping(nonce: 1)), bytes: 10))
        talk.wait(milliseconds: 14_999)
        #expect(talk.shown == nil)
        talk.wait(milliseconds: 1)
        #expect(talk.shown == [])
        talk.hear(.deadlinePassed)
        #expect(talk.shown == nil)
    }

    @Test func `our own presence is not shown by the core, and not passed on after its time`() {
        var talk = Conversation()
        talk.hear(.presenceChanged(presence(of: 0, 1, ["x"])))
        talk.wait(milliseconds: 15_000)
        #expect(talk.shown == nil)
        let id = talk.accept(1, features: Self.features)
        #expect(talk.presences(id).isEmpty)
    }

    // MARK: A member that turned bad

    @Test func `an earlier record is refused, also after the newest has ended`() {
        var talk = Conversation()
        let id = talk.accept(1, features: Self.features)
        talk.hear(.received(id, frame(presence(of: 2, 5, ["new"])), bytes: 200))
        talk.wait(milliseconds: 14_000)
        talk.hear(.received(id, .ping(Frame.Ping(nonce: 1)), bytes: 10))
        talk.wait(milliseconds: 1_000)
        #expect(talk.shown == [])
        for replay in [presence(of: 2, 5, ["new"]), presence(of: 2, 4, ["old"]), presence(of: 2, 9, ["o"], run: 99)] {
            talk.hear(.received(id, frame(replay), bytes: 200))
            #expect(talk.shown == nil)
        }
        talk.hear(.received(id, frame(presence(of: 2, 1, ["next"], run: 101)), bytes: 200))
        #expect(talk.shown?.count == 1)
    }

    @Test func `a forged record is neither shown nor passed on, and takes no other's place`() {
        var talk = Conversation()
        let id = talk.accept(1, features: Self.features)
        let other = talk.accept(2, features: Self.features)
        talk.hear(.received(id, frame(presence(of: 2, 9, ["forged"], signer: 1)), bytes: 200))
        #expect(talk.shown == nil && talk.presences(other).isEmpty && talk.closed(id) == nil)
        #expect(talk.core.counters.presencesRefused == 1)
        let elsewhere = PresenceRecord(
            device: Self.devices[2].id, mark: PresenceMark(run: 100, sequence: 8), entries: [])
        let space = SpaceID(bytes: [UInt8](repeating: 7, count: 16))!
        talk.hear(
            .received(
                id, frame(SignedPresence(elsewhere, space: space, sign: Self.devices[2].sign)), bytes: 200))
        #expect(talk.core.counters.presencesRefused == 2)
        let honest = presence(of: 2, 1, ["honest"])
        talk.hear(.received(other, frame(honest), bytes: 200))
        #expect(talk.shown == [honest.record])
    }

    @Test func `presence of a stranger and of a blocked device is ignored, and ends when a device is blocked`() {
        var talk = Conversation(members: 3)
        let id = talk.accept(1, features: Self.features)
        talk.hear(.received(id, frame(presence(of: 3, 1, ["stranger"])), bytes: 200))
        #expect(talk.shown == nil)
        talk.hear(.received(id, frame(presence(of: 2, 1, ["x"])), bytes: 200))
        #expect(talk.shown?.count == 1)
        talk.hear(.blocked([Self.devices[2].id]))
        #expect(talk.shown == [])
        talk.hear(.received(id, frame(presence(of: 2, 2, ["y"])), bytes: 200))
        #expect(talk.shown == nil)
    }

    @Test func `a member that floods is taken at a rate, without checking what is beyond it`() {
        var talk = Conversation()
        let id = talk.accept(1, features: Self.features)
        for sequence in 1...300 as ClosedRange<UInt64> {
            // What is beyond the rate has no signature that would hold.
            let signer = sequence > 100 ? 2 : 1
            talk.hear(.received(id, frame(presence(of: 1, sequence, ["\(sequence)"], signer: signer)), bytes: 200))
        }
        let counters = talk.core.counters
        #expect(counters.presencesReceived == 100 && counters.presencesDropped == 200)
        #expect(counters.presencesRefused == 0 && talk.closed(id) == nil)
        // Another member has a budget of its own, and the next record repairs what was left out.
        talk.hear(.received(id, frame(presence(of: 2, 1, ["x"])), bytes: 200))
        #expect(talk.shown?.count == 2)
        talk.wait(milliseconds: 20)
        talk.hear(.received(id, frame(presence(of: 1, 301, ["last"])), bytes: 200))
        #expect(talk.shown?.contains(presence(of: 1, 301, ["last"]).record) ?? false)
    }

    @Test func `forgeries do not use up the budget of the member that they name`() {
        var talk = Conversation()
        let (id, other) = (talk.accept(1, features: Self.features), talk.accept(2, features: Self.features))
        for sequence in 1...2_000 as ClosedRange<UInt64> {
            talk.hear(.received(id, frame(presence(of: 2, sequence, ["f"], signer: 1)), bytes: 200))
        }
        #expect(talk.core.counters.presencesRefused == 1_000)
        let honest = presence(of: 2, 1, ["honest"])
        talk.hear(.received(other, frame(honest), bytes: 200))
        #expect(talk.shown == [honest.record])
    }

    // MARK: Clocks

    @Test func `a device whose clock was put back is told of its later run, over a relay too`() throws {
        // Device 0 starts anew; 1 has restarted as well; 2 remembers.
        var (restarted, relay, keeper) = (Conversation(own: 0), Conversation(own: 1), Conversation(own: 2))
        let (down, up) = (restarted.accept(1, features: Self.features), relay.accept(0, features: Self.features))
        let (toKeeper, toRelay) = (relay.accept(2, features: Self.features), keeper.accept(1, features: Self.features))
        let before = presence(of: 0, 7, ["before"], run: 900)
        keeper.hear(.received(toRelay, frame(before), bytes: 200))
        keeper.wait(milliseconds: 15_000)
        #expect(keeper.closed(toRelay) != nil)
        let again = keeper.accept(1, features: Self.features)

        let low = presence(of: 0, 1, ["low"], run: 100)
        restarted.hear(.presenceChanged(low))
        #expect(restarted.presences(down) == [low])
        relay.hear(.received(up, frame(low), bytes: 200))
        #expect(relay.presences(toKeeper) == [low])
        keeper.hear(.received(again, frame(low), bytes: 200))
        #expect(keeper.shown == nil && keeper.presences(again) == [before])
        // Once is enough.
        keeper.hear(.received(again, frame(low), bytes: 200))
        #expect(keeper.presences(again).isEmpty)
        relay.hear(.received(toKeeper, frame(before), bytes: 200))
        #expect(relay.presences(up) == [before] && relay.presences(toKeeper).isEmpty)
        restarted.hear(.received(down, frame(before), bytes: 200))
        #expect(restarted.renewedBeyond == 900)
        let next = presence(of: 0, 2, ["low"], run: PresenceRecord.nextRun(after: 900))
        restarted.hear(.presenceChanged(next))
        relay.hear(.received(up, frame(next), bytes: 200))
        keeper.hear(.received(again, frame(next), bytes: 200))
        #expect(keeper.shown == [next.record])
    }

    @Test func `our own record of this run or an earlier one says nothing`() {
        var talk = Conversation()
        let id = talk.accept(1, features: Self.features)
        let other = talk.accept(2, features: Self.features)
        let forged = presence(of: 0, 1, ["x"], run: 900, signer: 1)
        talk.hear(.received(id, frame(presence(of: 0, 1, ["x"], run: 900)), bytes: 200))
        #expect(talk.renewedBeyond == nil, "nothing of ours is present in this run")
        talk.hear(.presenceChanged(presence(of: 0, 3, ["x"])))
        for record in [presence(of: 0, 2, ["y"]), presence(of: 0, 9, ["y"]), forged] {
            talk.hear(.received(id, frame(record), bytes: 200))
            #expect(talk.renewedBeyond == nil && talk.presences(other).isEmpty)
        }
    }
}

extension Conversation {
    /// The presence records that the last step sent on a connection.
    fileprivate func presences(_ id: ConnectionID) -> [SignedPresence] {
        sent(id).flatMap { frame -> [SignedPresence] in
            if case .presence(let presence) = frame { presence.records } else { [] }
        }
    }

    /// What is shown of other members since the last step; nil if that has not changed.
    fileprivate var shown: [PresenceRecord]? {
        effects.lazy.compactMap { if case .presence(let records) = $0 { records } else { nil } }.first
    }

    fileprivate var renewedBeyond: UInt64? {
        effects.lazy.compactMap { if case .renewPresence(let run) = $0 { run } else { nil } }.first
    }
}
