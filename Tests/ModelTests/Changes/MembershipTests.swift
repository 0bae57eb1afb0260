import SyncModel
import Testing

@Suite struct MembershipTests {
    private typealias Addition = Membership.Addition

    private static func devices() throws -> [TestDevice] { try (1...7).map { try TestDevice($0) } }

    @Test(arguments: 0..<30) func `the members do not depend on the order in which facts arrive`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let devices = try Self.devices()
        var additions: [Addition] = []
        for _ in 0..<14 {
            let author = devices[Int(random.next() % 7)]
            let number = UInt8(random.next() % 7) + 1
            let device = try TestDevice(
                number, role: MemberFact.Role.allCases[Int(random.next() % 3)], name: "n\(random.next() % 2)")
            additions.append(
                Addition(author: author.id, fact: device.fact, wallMilliseconds: Int64(random.next() % 3)))
        }
        func closure(_ additions: [Addition]) -> Membership {
            var membership = Membership(own: devices[0].fact, sinceMilliseconds: 0)
            var admitted: Set<DeviceID> = []
            for addition in additions {
                for device in membership.add(addition) { #expect(admitted.insert(device).inserted) }
            }
            #expect(admitted.count + 1 == membership.members.count)
            return membership
        }
        let expected = closure(additions)
        #expect(Set(expected.members.map(\.device)) == slowClosure(additions, from: devices[0].id))
        for _ in 0..<10 {
            #expect(closure(additions.shuffled(using: &random)) == expected)
            #expect(closure(additions.shuffled(using: &random) + additions) == expected)
        }
    }

    /// Devices reached from `own` over add-facts.
    private func slowClosure(_ additions: [Addition], from own: DeviceID) -> Set<DeviceID> {
        var members: Set<DeviceID> = [own]
        while true {
            let next = members.union(additions.filter { members.contains($0.author) }.map(\.fact.device))
            if next == members { return members }
            members = next
        }
    }

    @Test func `facts of strangers wait until their author is a member`() throws {
        let devices = try Self.devices()
        var membership = Membership(own: devices[0].fact, sinceMilliseconds: 5)
        func add(_ author: Int, _ device: Int) -> [DeviceID] {
            membership.add(Addition(author: devices[author].id, fact: devices[device].fact, wallMilliseconds: 9))
        }
        #expect(add(2, 3).isEmpty)
        #expect(add(1, 2).isEmpty)
        #expect(add(5, 6).isEmpty)
        #expect(add(0, 1) == [devices[1].id, devices[2].id, devices[3].id])
        #expect(membership.members.map(\.device) == devices[0...3].map(\.id).sorted())
        #expect(membership[devices[3].id]?.addedBy == devices[2].id)
        #expect(membership.signingKey(of: devices[3].id) == devices[3].signingKey)
        #expect(membership.signingKey(of: devices[5].id) == nil)
    }

    @Test func `a fact whose signing key the device did not bind is void`() throws {
        let (own, other, stranger) = (try TestDevice(1), try TestDevice(2), try TestDevice(3))
        var membership = Membership(own: own.fact, sinceMilliseconds: 0)
        func forged(_ binding: [UInt8], spki: [UInt8]) -> MemberFact {
            MemberFact(
                subjectPublicKeyInfo: spki, signingKey: stranger.signingKey, binding: binding,
                discoveryKey: other.fact.discoveryKey, role: .writer, name: "x")
        }
        for fact in [
            forged(other.fact.binding, spki: other.fact.subjectPublicKeyInfo),
            forged(stranger.fact.binding, spki: other.fact.subjectPublicKeyInfo),
            forged([], spki: other.fact.subjectPublicKeyInfo), forged(stranger.fact.binding, spki: [1, 2, 3]),
        ] {
            #expect(!fact.isBound)
            #expect(membership.add(Addition(author: own.id, fact: fact, wallMilliseconds: 0)).isEmpty)
        }
        #expect(membership.members.count == 1)
        #expect(stranger.fact.isBound)
    }

    @Test func `a device of any role signs its changes, and what it says of itself changes nothing`() throws {
        let own = try TestDevice(1)
        let reader = try TestDevice(2, role: .reader)
        var membership = Membership(own: own.fact, sinceMilliseconds: 0)
        #expect(membership.signingKey(of: reader.id) == nil, "it is no member yet")
        #expect(membership.add(Addition(author: own.id, fact: reader.fact, wallMilliseconds: 0)) == [reader.id])
        #expect(membership.signingKey(of: reader.id) == reader.signingKey)
        let claim = try TestDevice(2, role: .admin).fact
        _ = membership.add(Addition(author: reader.id, fact: claim, wallMilliseconds: 0))
        #expect(membership[reader.id]?.fact.role == .reader)
        _ = membership.add(Addition(author: own.id, fact: claim, wallMilliseconds: 1))
        #expect(membership[reader.id]?.fact.role == .admin)
        #expect(membership.signingKey(of: reader.id) == reader.signingKey)
    }

    @Test func `the fact of the most powerful role holds, however old it is and in whatever order it comes`() throws {
        #expect(MemberFact.Role.allCases.sorted() == [.reader, .writer, .admin])
        #expect(MemberFact.Role.allCases.map(\.rawValue) == [1, 2, 3], "the numbers are those of the first version")
        let own = try TestDevice(1)
        let additions = try [(MemberFact.Role.reader, 1), (.writer, 2), (.admin, 3)].map { role, wall in
            Addition(author: own.id, fact: try TestDevice(2, role: role).fact, wallMilliseconds: wall)
        }
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var membership = Membership(own: own.fact, sinceMilliseconds: 0)
            var greatest = 0
            for index in order {
                _ = membership.add(additions[index])
                greatest = max(greatest, index)
                #expect(membership[additions[0].fact.device]?.fact == additions[greatest].fact, "\(order) at \(index)")
            }
        }
    }

    @Test func `our own role is what others said of us`() throws {
        let (own, host) = (try TestDevice(1), try TestDevice(2))
        var membership = Membership(own: own.fact, sinceMilliseconds: 0)
        _ = membership.add(Addition(author: own.id, fact: host.fact, wallMilliseconds: 0))
        let asReader = try TestDevice(1, role: .reader).fact
        #expect(membership.add(Addition(author: host.id, fact: asReader, wallMilliseconds: 7)).isEmpty)
        #expect(membership[own.id]?.fact.role == .reader)
        #expect(membership[own.id]?.addedBy == host.id)
    }

    @Test(arguments: 0..<20) func `who let a device in is shown by the pairing, whatever anybody says later`(
        seed: UInt64
    ) throws {
        // Device 1 founds the space; 2 and 3 join through it, 4 through 2. The hosts' clocks are far apart.
        let devices = try Self.devices()
        func pairing(_ host: Int, _ guest: Int, at time: Int64) throws -> [Addition] {
            let answer = try TestDevice(UInt8(host + 1), isHost: true).fact
            return [
                Addition(author: devices[host].id, fact: devices[guest].fact, wallMilliseconds: time),
                Addition(author: devices[guest].id, fact: answer, wallMilliseconds: time - 900),
            ]
        }
        var facts = try pairing(0, 1, at: 5_000) + pairing(0, 2, at: 1_000) + pairing(1, 3, at: 9_000)
        // A member adds the founder and a member again with the first second of 1970, in every way that it can.
        for (device, isHost) in [(0, false), (0, true), (1, false), (3, true)] {
            let fact = try TestDevice(UInt8(device + 1), isHost: isHost).fact
            facts.append(Addition(author: devices[2].id, fact: fact, wallMilliseconds: 1))
        }
        var random = SeededGenerator(seed: seed)
        for own in 0..<4 {
            var membership = Membership(own: devices[own].fact, sinceMilliseconds: 0)
            for fact in facts.shuffled(using: &random) { _ = membership.add(fact) }
            #expect(membership.members.count == 4)
            #expect(membership.admission(of: devices[0].id) == nil, "seen by \(own)")
            #expect(membership.admission(of: devices[1].id)?.author == devices[0].id, "seen by \(own)")
            #expect(membership.admission(of: devices[1].id)?.wallMilliseconds == 5_000)
            #expect(membership.admission(of: devices[2].id)?.author == devices[0].id, "seen by \(own)")
            #expect(membership.admission(of: devices[3].id)?.author == devices[1].id, "seen by \(own)")
        }
    }

    @Test func `a member fact reads back, later fields included, and every truncation is refused`() throws {
        let fact = try TestDevice(4, name: "Küche").fact
        let later = MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: fact.role, name: fact.name, laterFields: [1, 2, 3])
        let host = try TestDevice(4, name: "Küche", isHost: true).fact
        #expect(host.isHost && !fact.isHost && !later.isHost)
        #expect(!host.isReturn && host.asReturn.isReturn && !host.asReturn.isHost)
        #expect(host.encoded.last == 1 && host.asReturn.encoded == host.encoded.dropLast() + [16])
        for fact in [fact, later, host, fact.asReturn] {
            let bytes = fact.encoded
            #expect(try MemberFact(encoded: bytes, 0..<bytes.count) == fact)
        }
        let bytes = fact.encoded
        for length in 0..<bytes.count {
            #expect(throws: CodecError.self) { try MemberFact(encoded: bytes, 0..<length) }
        }
        let large = bytes + [UInt8](repeating: 0, count: Limits.memberFactBytes)
        #expect(throws: CodecError.outOfRange(field: "member")) { try MemberFact(encoded: large, 0..<large.count) }
    }

    // MARK: Founders

    @Test func `a founder is a field of its own, and to an agent of before it is one of a later version`() throws {
        let founder = try TestDevice(9).id
        let plain = try TestDevice(4, name: "Küche").fact
        let named = plain.following(founder)
        let host = MemberFact(
            subjectPublicKeyInfo: plain.subjectPublicKeyInfo, signingKey: plain.signingKey, binding: plain.binding,
            discoveryKey: plain.discoveryKey, role: .admin, name: plain.name, isHost: true, founder: founder,
            laterFields: [7, 8])
        #expect(plain.founder == nil && named.founder == founder && named.isBound && !named.isHost)
        #expect(named.encoded == plain.encoded + [2] + founder.bytes)
        #expect(host.encoded.suffix(35) == [7] + founder.bytes + [7, 8])
        for fact in [named, host, host.asReturn, named.following(nil)] {
            let bytes = fact.encoded
            #expect(try MemberFact(encoded: bytes, 0..<bytes.count) == fact)
        }
        #expect(named.following(nil) == plain && host.asReturn.founder == founder && host.asReturn.role == .admin)
        #expect(host.limited(to: .writer).role == .writer && named.limited(to: .admin) == named)
        // That agent reads flags, and keeps all behind them as they are.
        let bytes = named.encoded
        var reader = ByteReader(bytes, plain.encoded.count..<bytes.count)
        #expect(try reader.varint() == 2)
        #expect(Array(bytes[reader.position...]) == founder.bytes)
        for length in plain.encoded.count + 1..<bytes.count {
            #expect(throws: CodecError.self) { try MemberFact(encoded: bytes, 0..<length) }
        }
    }

    @Test func `an end stands behind the founder, and to an agent of before it is a field of a later version`() throws {
        let founder = try TestDevice(9).id
        let plain = try TestDevice(4, name: "Küche").fact
        let ended = plain.ending(at: 300)
        #expect(plain.until == nil && ended.until == 300 && ended.isBound && ended != plain)
        #expect(ended.encoded == plain.encoded + [8, 0xAC, 0x02])
        #expect(ended.following(founder).encoded == plain.encoded + [10] + founder.bytes + [0xAC, 0x02])
        let all = MemberFact(
            subjectPublicKeyInfo: plain.subjectPublicKeyInfo, signingKey: plain.signingKey, binding: plain.binding,
            discoveryKey: plain.discoveryKey, role: .admin, name: plain.name, isHost: true, founder: founder,
            until: .max, laterFields: [7, 8])
        let greatest = [UInt8](repeating: 0xFF, count: 9) + [1]
        #expect(Array(all.encoded.suffix(45).prefix(33)) == [15] + founder.bytes)
        #expect(Array(all.encoded.suffix(12)) == greatest + [7, 8])
        for fact in [ended, ended.following(founder), plain.ending(at: 0), all] {
            let bytes = fact.encoded
            #expect(try MemberFact(encoded: bytes, 0..<bytes.count) == fact)
        }
        // Copies keep it, and nothing of it is left where it is taken away.
        #expect(all.asReturn.until == .max && all.limited(to: .reader).until == .max)
        #expect(all.following(nil).until == .max && all.ending(at: nil).laterFields == [7, 8])
        #expect(ended.ending(at: nil) == plain && ended.ending(at: nil).encoded == plain.encoded)
        let bytes = ended.following(founder).encoded
        for length in plain.encoded.count + 1..<bytes.count {
            #expect(throws: CodecError.self) { try MemberFact(encoded: bytes, 0..<length) }
        }
    }

    /// The pairings of hosts and guests, by the numbers of their devices.
    private func pairings(_ pairs: [(host: Int, guest: Int)], by devices: [TestDevice]) throws -> Pairings {
        var pairings = Pairings()
        for (time, pair) in pairs.enumerated() {
            let answer = try TestDevice(UInt8(pair.host + 1), isHost: true).fact
            let (host, guest) = (devices[pair.host], devices[pair.guest])
            pairings.record(Addition(author: host.id, fact: guest.fact, wallMilliseconds: Int64(time)))
            pairings.record(Addition(author: guest.id, fact: answer, wallMilliseconds: Int64(time)))
        }
        return pairings
    }

    @Test func `the founder is at the end of the hosts`() throws {
        let devices = try Self.devices()
        let pairings = try pairings([(0, 1), (1, 2), (2, 3), (0, 4)], by: devices)
        for number in 0...4 {
            #expect(pairings.founder(followedFrom: devices[number].id) == devices[0].id, "from \(number)")
        }
        #expect(pairings.founder(followedFrom: devices[6].id) == devices[6].id, "a device that joined nothing")
    }

    @Test func `the founder of a device that joined twice is that of its first host`() throws {
        let devices = try Self.devices()
        // Device 2 joins 0, and later 1.
        let pairings = try pairings([(0, 2), (1, 2)], by: devices)
        #expect(pairings.founder(followedFrom: devices[2].id) == devices[0].id)
    }

    @Test func `a circle of hosts has no founder`() throws {
        let devices = try Self.devices()
        let pairings = try pairings([(0, 1), (1, 2), (2, 0), (2, 3)], by: devices)
        for number in 0...3 {
            #expect(pairings.founder(followedFrom: devices[number].id) == nil, "from \(number)")
        }
    }

    @Test func `a host that did not admit its guest leads to no founder`() throws {
        let devices = try Self.devices()
        var pairings = try pairings([(1, 2)], by: devices)
        // 1 says that 0 is its host; what 0 says is not here.
        let claim = try TestDevice(1, isHost: true).fact
        pairings.record(Addition(author: devices[1].id, fact: claim, wallMilliseconds: 5))
        #expect(pairings.founder(followedFrom: devices[1].id) == nil)
        #expect(pairings.founder(followedFrom: devices[2].id) == nil)
        pairings.record(Addition(author: devices[0].id, fact: devices[1].fact, wallMilliseconds: 9))
        #expect(pairings.founder(followedFrom: devices[2].id) == devices[0].id)
    }

    @Test func `the facts keep role and founder of each, in every order and through a join`() throws {
        let devices = try Self.devices()
        let founder = devices[0].id
        let facts: [(MemberFact, Dot)] = [
            (try TestDevice(2, role: .admin, founder: founder).fact, Dot(replica: devices[0].replica(), counter: 3)),
            (try TestDevice(2, role: .reader).fact, Dot(replica: devices[0].replica(), counter: 1)),
            (try TestDevice(3).fact, Dot(replica: devices[1].replica(), counter: 0)),
        ]
        func kept(_ order: some Sequence<Int>) -> MemberFacts {
            order.reduce(into: MemberFacts()) { $0.add(facts[$1].0, at: facts[$1].1) }
        }
        let all = kept([0, 1, 2])
        #expect(all == kept([2, 1, 0]) && all == kept([1, 0, 2, 0, 1]))
        var joined = kept([2])
        joined.join(kept([0, 1]))
        #expect(joined == all)
        let expected = [facts[1], facts[0], facts[2]].sorted { ($0.0.device, $0.1) < ($1.0.device, $1.1) }
        #expect(all.additions.map(\.dot) == expected.map(\.1))
        #expect(all.additions.map(\.device) == expected.map(\.0.device))
        #expect(all.additions.map(\.role) == expected.map(\.0.role))
        #expect(all.additions.map(\.founder) == expected.map(\.0.founder))
        let early = all.held(at: VersionVector([.init(replica: devices[0].replica(), next: 2)]))
        #expect(early.additions.map(\.role) == [.reader])
    }
}
