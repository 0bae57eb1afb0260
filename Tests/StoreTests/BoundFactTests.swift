import SyncModel
import SyncStore
import Testing

/// A binding is checked once, and vouches for no other one.
@Suite struct BoundFactTests {
    private func fact(_ device: TestDevice, name: String = "a", signingKey: [UInt8]? = nil) -> MemberFact {
        MemberFact(
            subjectPublicKeyInfo: device.fact.subjectPublicKeyInfo,
            signingKey: signingKey ?? device.fact.signingKey, binding: device.fact.binding,
            discoveryKey: device.fact.discoveryKey, role: .writer, name: name)
    }

    @Test func `a fact that held does not vouch for one with another key`() {
        let (bound, device) = (BoundFacts(limit: 8), TestDevice(2))
        let (genuine, forged) = (fact(device), fact(device, signingKey: TestDevice(3).fact.signingKey))
        for _ in 0..<2 {
            #expect(!bound.isBound(forged))
            #expect(bound.isBound(genuine))
        }
        #expect(bound.count == 1)
        #expect(bound.isBound(fact(device, name: "b")) && bound.count == 1)
    }

    @Test func `however many facts there are, few are remembered`() {
        let bound = BoundFacts(limit: 3)
        for number in 2..<12 {
            #expect(bound.isBound(fact(TestDevice(UInt8(number)))))
            #expect((1...3).contains(bound.count))
        }
    }

    /// A forged fact is in the log like every other, beside the genuine one of its device.
    @Test func `a store that is opened again knows the genuine fact, and not the forged one`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let store = try bed.open()
        let device = TestDevice(2)
        let (genuine, forged) = (fact(device), fact(device, signingKey: TestDevice(3).fact.signingKey))
        for _ in 0..<2 {
            _ = try store.append([.operations([.addMember(genuine), .addMember(forged)])], wallMilliseconds: 1)
        }
        store.close()
        #expect(try bed.open().members().additions.map(\.device) == [device.id, device.id])
    }
}
