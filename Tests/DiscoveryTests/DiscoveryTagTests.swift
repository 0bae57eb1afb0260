import SyncDiscovery
import Testing

@Suite struct DiscoveryTagTests {
    /// Computed with another implementation: `printf 'lanyard/mdns/v1\0\0\0\0\0\0\120\57' | openssl dgst -sha256 -hmac key`.
    @Test func `a tag is what the protocol says, byte for byte`() {
        let tag = DiscoveryTag.tag(key: Array("key".utf8), day: 20_527)
        #expect(tag.count == 8)
        #expect(DiscoveryText(version: nil, tag: tag).strings == ["t=edb1d6571880a786"])
    }

    @Test func `a tag is recognised from the day before to the day after, by whoever holds its key`() {
        let (ours, other) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let tag = DiscoveryTag.tag(key: ours, day: 100)
        for day in Int64(99)...101 { #expect(DiscoveryTag.recognises(tag, keys: [other, ours], day: day)) }
        #expect(!DiscoveryTag.recognises(tag, keys: [ours], day: 98))
        #expect(!DiscoveryTag.recognises(tag, keys: [ours], day: 102))
        #expect(!DiscoveryTag.recognises(tag, keys: [other], day: 100))
        #expect(!DiscoveryTag.recognises(tag, keys: [], day: 100))
    }

    @Test func `a tag of another length or a day at the end of time is only a mismatch`() {
        #expect(!DiscoveryTag.recognises([], keys: [[1]], day: 0))
        #expect(!DiscoveryTag.recognises([UInt8](repeating: 0, count: 9), keys: [[1]], day: .min))
        #expect(!DiscoveryTag.recognises([UInt8](repeating: 0, count: 8), keys: [[]], day: .max))
    }
}
