import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Pairing by typed codes: machines that talk over links, people who read and type, and a relay between them.
@Suite struct PairingTests {
    // MARK: Two people

    @Test func `two devices pair when each is given the code of the other's screen`() throws {
        var room = Room(devices: 2)
        room.connect(0, 1)
        #expect(room.screens[0].code == nil, "the only candidate is chosen after a moment")
        room.wait(milliseconds: 1_000)
        let (first, second) = (try #require(room.screens[0].code), try #require(room.screens[1].code))
        #expect(first != second && first.utf8.count == 6 && second.utf8.count == 6)
        room.type(second, at: 0)
        #expect(room.screens[0].isConfirmed && room.screens[0].outcome == nil)
        #expect(room.screens[0].admitted.isEmpty, "nothing is admitted before both have typed")
        room.type(first, at: 1)
        #expect(room.paired(0) == room.id(1) && room.paired(1) == room.id(0))
        #expect(room.screens.map(\.admitted) == [[room.id(1)], [room.id(0)]])
        #expect(room.screens.count { $0.joinsAsGuest } == 1, "one of the two joins through the other")
    }

    @Test func `the device of the smaller space joins the larger one`() {
        for members in [(1, 4), (4, 1)] as [(UInt64, UInt64)] {
            var room = Room(devices: 2, members: [members.0, members.1])
            room.connect(0, 1)
            room.wait(milliseconds: 1_000)
            room.typeCrosswise(0, 1)
            #expect(room.screens.map(\.joinsAsGuest) == [members.0 < members.1, members.1 < members.0])
        }
    }

    @Test func `a wrong code ends the exchange on both screens, and admits no device`() throws {
        var room = Room(devices: 2)
        room.connect(0, 1)
        room.wait(milliseconds: 1_000)
        let own = try #require(room.screens[0].code)
        room.typeCode(of: 0, at: 1)
        room.type(own, at: 0)
        #expect(room.isOutcome(0, .wrongCode(room.candidate(1))), "the own code is a wrong one")
        #expect(room.isOutcome(1, .endedThere(room.candidate(0), .wrongCode)))
        #expect(room.screens.allSatisfy { $0.admitted.isEmpty })
        room.typeCode(of: 1, at: 0)
        #expect(room.isOutcome(0, .wrongCode(room.candidate(1))), "there is no second try with these codes")
    }

    @Test func `stopping and running out of time are told to the other device`() {
        for isStopped in [true, false] {
            var room = Room(devices: 2)
            room.connect(0, 1)
            room.wait(milliseconds: 1_000)
            if isStopped { room.step(0, .cancelled) } else { room.wait(milliseconds: 119_001, only: 0) }
            #expect(room.screens[0].outcome == (isStopped ? .cancelled : .timedOut))
            #expect(room.isOutcome(1, .endedThere(room.candidate(0), isStopped ? .cancelled : .timedOut)))
        }
        var alone = Room(devices: 1)
        alone.wait(milliseconds: 119_999)
        #expect(alone.screens[0].outcome == nil)
        alone.wait(milliseconds: 1)
        #expect(alone.screens[0].outcome == .timedOut)
    }

    @Test func `a link that breaks ends a comparison, and leaves no half of a pairing unsaid`() {
        var room = Room(devices: 2)
        room.connect(0, 1)
        room.wait(milliseconds: 1_000)
        room.typeCode(of: 1, at: 0)
        room.cut(0, 1)
        #expect(room.isOutcome(0, .connectionLost(room.candidate(1))))
        #expect(room.isOutcome(1, .connectionLost(room.candidate(0))))
        // The second code arrives, and the answer that the member is written down does not.
        var late = Room(devices: 2)
        late.connect(0, 1)
        late.wait(milliseconds: 1_000)
        late.isStoreSlow = [true, false]
        late.typeCrosswise(0, 1)
        late.cut(0, 1)
        #expect(late.isOutcome(1, .halfPaired(late.candidate(0))))
        #expect(late.screens[0].outcome == nil, "the store was asked, and its answer counts")
        late.step(0, .admitted(isDone: true))
        #expect(late.paired(0) == late.id(1), "the other device had said that it was done")
    }

    @Test func `a store that refuses the member is told to both`() {
        var room = Room(devices: 2)
        room.isStoreFailing = [true, false]
        room.connect(0, 1)
        room.wait(milliseconds: 1_000)
        room.typeCrosswise(0, 1)
        #expect(room.isOutcome(0, .notAdmitted(room.candidate(1))))
        #expect(
            room.isOutcome(1, .halfPaired(room.candidate(0)))
                || room.isOutcome(
                    1, .endedThere(room.candidate(0), .notAdmitted))
        )
    }

    // MARK: More than two

    @Test func `with several devices the person chooses, and both must choose each other`() {
        var room = Room(devices: 3)
        for (one, other) in [(0, 1), (0, 2), (1, 2)] { room.connect(one, other) }
        room.wait(milliseconds: 5_000)
        #expect(room.screens.allSatisfy { $0.code == nil && $0.needsChoice })
        room.choose(1, at: 0)
        #expect(room.screens[1].code == nil, "one side's choice shows no code")
        room.choose(2, at: 1)
        #expect(room.screens.allSatisfy { $0.code == nil })
        room.choose(0, at: 1)
        #expect(room.screens[0].code != nil && room.screens[1].code != nil && room.screens[2].code == nil)
        room.choose(2, at: 0)
        room.typeCrosswise(0, 1)
        #expect(room.paired(0) == room.id(1) && room.paired(1) == room.id(0) && room.screens[2].outcome == nil)
    }

    @Test func `a device named by the person is waited for, whichever others pair`() {
        for wish in [PairingMachine.Wish.named("device 1"), .named(String(Room.devices[1].id.description.prefix(6)))] {
            var room = Room(devices: 3, wishes: [wish, .any, .any])
            room.connect(0, 2)
            room.wait(milliseconds: 3_000)
            #expect(room.screens[0].code == nil)
            room.connect(0, 1)
            room.wait(milliseconds: 1_000)
            #expect(room.screens[0].code != nil && room.screens[1].code != nil)
        }
    }

    @Test func `an address named by the person is enough, whichever link comes first`() {
        for isIncomingFirst in [true, false] {
            for (one, other) in [(0, 1), (1, 0)] {
                var room = Room(devices: 2, wishes: one == 0 ? [.atNamedAddress, .any] : [.any, .atNamedAddress])
                if isIncomingFirst { room.connect(other, one) }
                room.connect(one, other, isNamed: true)
                if !isIncomingFirst { room.connect(other, one) }
                room.wait(milliseconds: 1_000)
                room.typeCrosswise(0, 1)
                #expect(room.paired(0) == room.id(1) && room.paired(1) == room.id(0))
            }
        }
    }

    @Test func `a name that no device has is asked about, and so is one that two have`() {
        var room = Room(devices: 2, wishes: [.named("kitchen"), .any])
        room.connect(0, 1)
        room.wait(milliseconds: 1_000)
        #expect(room.screens[0].needsChoice && room.screens[0].code == nil)
        room.choose(1, at: 0)
        #expect(room.screens[0].code != nil)
    }

    @Test func `a device that leaves the exchange unopened holds up no other`() {
        var room = Room(devices: 3)
        let order = (0..<3).sorted { room.id($0) < room.id($1) }
        let (mute, answerer, third) = (order[0], order[1], order[2])
        room.isMute = mute
        room.connect(mute, answerer)
        room.wait(milliseconds: 1_000)
        room.connect(answerer, third)
        #expect(room.screens[third].code == nil)
        room.wait(milliseconds: 5_000)
        room.wait(milliseconds: 1_000)
        #expect(room.screens[answerer].code != nil && room.screens[third].code != nil)
    }

    @Test func `a flood of links keeps the named device in`() {
        var room = Room(devices: 2, wishes: [.named("device 1"), .any])
        for _ in 0..<40 { room.connect(0, 0, isForeign: true) }
        room.connect(0, 1)
        room.wait(milliseconds: 1_000)
        #expect(room.screens[0].code != nil && room.screens[1].code != nil)
    }

    @Test func `two links between two devices carry one exchange`() {
        for seed in 0..<50 as Range<UInt64> {
            var room = Room(devices: 2, seed: seed)
            room.connect(0, 1, delivering: false)
            room.connect(1, 0, delivering: false)
            room.deliverInAnyOrder()
            room.wait(milliseconds: 1_000)
            room.typeCrosswise(0, 1)
            #expect(room.paired(0) == room.id(1) && room.paired(1) == room.id(0), "seed \(seed)")
        }
    }

    // MARK: A relay in the middle

    /// The relay (device 2) runs an honest exchange with each side, under its own key, while the people read each other's screens.
    @Test func `a relay in the middle is found out, however often it tries`() throws {
        for seed in 0..<1_000 as Range<UInt64> {
            var room = Room(devices: 2, relay: true, seed: seed)
            room.connect(0, 2)
            room.connect(1, 3)
            room.wait(milliseconds: 1_000)
            let (first, second) = (try #require(room.screens[0].code), try #require(room.screens[1].code))
            // The relay types what its own screens ask for: it knows both transcripts.
            room.typeCode(of: 0, at: 2)
            room.typeCode(of: 1, at: 3)
            room.type(second, at: 0)
            room.type(first, at: 1)
            #expect(room.screens[0].admitted.isEmpty && room.screens[1].admitted.isEmpty, "seed \(seed)")
            #expect(room.isOutcome(0, .wrongCode(room.candidate(2))), "seed \(seed)")
        }
    }

    /// The codes of the two transcripts of a relay coincide as seldom as chance: counted for the last three digits, so that a few
    /// hundred thousand tries show it.
    @Test func `the codes on both sides of a relay coincide once in the number of codes`() {
        var generator = SplitMix64(seed: 7)
        let sides = (0..<4).map { Room.side($0) }
        let (left, right) = (PairingTranscript(sides[0], sides[2]), PairingTranscript(sides[3], sides[1]))
        let tries = 200_000
        var equal = 0
        for _ in 0..<tries {
            let nonces = (0..<4).map { _ in Room.nonce(&generator) }
            let one = left.codes(committerNonce: nonces[0], answererNonce: nonces[1])
            let other = right.codes(committerNonce: nonces[2], answererNonce: nonces[3])
            // Each code decides the other one, whichever roles the relay has: what fits one screen fits both.
            #expect((one.answerer == other.answerer) == (one.committer == other.committer))
            #expect((one.answerer == other.committer) == (one.committer == other.answerer))
            if one.committer.suffix(3) == other.committer.suffix(3) { equal += 1 }
        }
        // 200 are expected; the standard deviation is 14.
        #expect((130...270).contains(equal), "\(equal) of \(tries) share three digits")
    }

    /// The attack that the commitment prevents. A relay that knew the committer's nonce before it answers would only have to try
    /// a million nonces: with a thousand times fewer digits to hit, a few thousand are enough here. This is what the bound rests on.
    @Test func `without the commitment a relay would choose the code`() {
        var generator = SplitMix64(seed: 8)
        let transcript = PairingTranscript(Room.side(0), Room.side(1))
        let nonce = Room.nonce(&generator)
        let found = (0..<20_000).contains { _ in
            transcript.codes(committerNonce: nonce, answererNonce: Room.nonce(&generator)).committer.hasPrefix("123")
        }
        #expect(found)
        #expect(transcript.commitment(to: nonce) != transcript.commitment(to: Room.nonce(&generator)))
    }

    @Test func `a committer that opens another nonce than it committed to shows no code`() {
        var room = Room(devices: 2)
        room.connect(0, 1)
        let committer = room.id(0) < room.id(1) ? 0 : 1
        room.isOpeningForged = committer
        room.wait(milliseconds: 1_000)
        #expect(room.screens[1 - committer].code == nil)
    }

    @Test func `exchanges that are broken off before the code is shown count as tries`() {
        var room = Room(devices: 2)
        let committer = room.id(0) < room.id(1) ? 0 : 1
        let answerer = 1 - committer
        room.isOpeningForged = committer
        for attempt in 1...3 {
            #expect(room.screens[answerer].outcome == nil, "attempt \(attempt)")
            room.renew(committer)
            room.connect(0, 1)
            room.wait(milliseconds: 1_000)
        }
        #expect(room.screens[answerer].outcome == .tooManyTries)
    }

    // MARK: Anything

    @Test func `whatever order things come in, a pairing is on both sides or said to be half`() {
        var pairings = 0
        for seed in 0..<2_000 as Range<UInt64> {
            var room = Room(devices: 3, seed: seed)
            room.play()
            #expect(!room.isOverdue, "seed \(seed)")
            for device in 0..<3 {
                let screen = room.screens[device]
                guard screen.outcome != nil else {
                    Issue.record("seed \(seed): device \(device) never ended")
                    continue
                }
                if let peer = room.paired(device), let other = (0..<3).first(where: { room.id($0) == peer }) {
                    #expect(room.screens[other].admitted == [room.id(device)], "seed \(seed)")
                    #expect(screen.typed == room.screens[other].code, "seed \(seed)")
                }
                if !screen.admitted.isEmpty { #expect(screen.isConfirmed, "seed \(seed)") }
                #expect(screen.admitted.count <= 1, "seed \(seed)")
                if room.paired(device) != nil { pairings += 1 }
            }
        }
        #expect(pairings > 200, "\(pairings) of 6,000 screens end paired")
    }
}
