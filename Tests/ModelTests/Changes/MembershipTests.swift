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
                number, role: random.chance(30) ? .reader : .writer, name: "n\(random.next() % 2)")
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

    @Test func `a reader signs nothing, and what it says of itself changes nothing`() throws {
        let own = try TestDevice(1)
        let reader = try TestDevice(2, role: .reader)
        var membership = Membership(own: own.fact, sinceMilliseconds: 0)
        #expect(membership.add(Addition(author: own.id, fact: reader.fact, wallMilliseconds: 0)) == [reader.id])
        #expect(membership.signingKey(of: reader.id) == nil)
        let claim = try TestDevice(2, role: .writer).fact
        _ = membership.add(Addition(author: reader.id, fact: claim, wallMilliseconds: 0))
        #expect(membership.signingKey(of: reader.id) == nil)
        _ = membership.add(Addition(author: own.id, fact: claim, wallMilliseconds: 1))
        #expect(membership.signingKey(of: reader.id) == reader.signingKey)
    }

    @Test func `our own role is what others said of us`() throws {
        let (own, host) = (try TestDevice(1), try TestDevice(2))
        var membership = Membership(own: own.fact, sinceMilliseconds: 0)
        #expect(membership.signingKey(of: own.id) == own.signingKey)
        _ = membership.add(Addition(author: own.id, fact: host.fact, wallMilliseconds: 0))
        let asReader = try TestDevice(1, role: .reader).fact
        #expect(membership.add(Addition(author: host.id, fact: asReader, wallMilliseconds: 7)).isEmpty)
        #expect(membership.signingKey(of: own.id) == nil)
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
        #expect(!host.withoutHost.isHost && host.withoutHost.encoded + [1] == host.encoded)
        for fact in [fact, later, host] {
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
}
