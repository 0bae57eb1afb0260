import SyncModel
import Testing

@Suite struct HelloTests {
    private func hello(
        _ protocols: ClosedRange<UInt32>, _ version: String, features: UInt64 = 0, required: UInt64 = 0
    ) -> Frame.Hello {
        var hello = Frame.Hello.sample()
        hello.protocols = protocols
        hello.agentVersion = version
        hello.features = features
        hello.featuresRequired = required
        return hello
    }

    @Test func `both sides agree on the greatest common version and features`() throws {
        let (left, right) = (
            hello(1...3, "0.3", features: 0b0111), hello(2...5, "0.5", features: 0b1110, required: 0b10)
        )
        #expect(try left.agreed(with: right) == right.agreed(with: left))
        #expect(try left.agreed(with: right).protocolVersion == 3)
        #expect(try left.agreed(with: right).features == 0b0110)
    }

    @Test func `without a common version the older side is told to upgrade, by both`() {
        let (old, new) = (hello(1...2, "0.2.1"), hello(3...4, "0.9.0"))
        let seenByOld = #expect(throws: HelloRefusal.self) { try old.agreed(with: new) }
        #expect(seenByOld?.code == "protocol_mismatch")
        #expect(seenByOld?.upgrade == .ours)
        #expect(
            seenByOld?.message
                == "no common protocol: this machine runs 0.2.1 (protocol 1 to 2), the peer 0.9.0 (protocol 3 to 4); "
                + "upgrade this machine")
        let seenByNew = #expect(throws: HelloRefusal.self) { try new.agreed(with: old) }
        #expect(seenByNew?.upgrade == .theirs)
    }

    @Test func `a required feature that the other side lacks names the side to upgrade`() {
        let (plain, strict) = (hello(1...1, "0.1", features: 1), hello(1...1, "0.2", features: 5, required: 4))
        let seenByPlain = #expect(throws: HelloRefusal.self) { try plain.agreed(with: strict) }
        #expect(seenByPlain?.code == "feature_required")
        #expect(seenByPlain?.upgrade == .ours)
        let seenByStrict = #expect(throws: HelloRefusal.self) { try strict.agreed(with: plain) }
        #expect(seenByStrict?.upgrade == .theirs)
        #expect(seenByStrict?.message.contains("0x4") == true)
    }
}
