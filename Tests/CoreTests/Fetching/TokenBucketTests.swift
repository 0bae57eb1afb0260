import SyncCore
import Testing

struct TokenBucketTests {
    @Test(arguments: [UInt64(1), 1_000, 1 << 20, 123_456_789, 1 << 40])
    func `what is taken is what flows in, and no more`(perSecond: UInt64) {
        var bucket = TokenBucket(perSecond: perSecond, at: .milliseconds(0))
        var now = Tick.milliseconds(0)
        var taken: UInt64 = 0
        let piece = 64 << 10
        for _ in 0..<2_000 {
            bucket.refill(at: now)
            if bucket.holds(piece) {
                bucket.take(piece)
                taken += UInt64(piece)
            } else {
                let next = bucket.time(of: piece)
                #expect(next > now)
                now = next
            }
        }
        let seconds = Double(now.nanoseconds) / 1e9
        let burst = Double(max(256 << 10, perSecond / 4))
        #expect(Double(taken) <= seconds * Double(perSecond) + burst + 1)
        #expect(Double(taken) >= seconds * Double(perSecond) - Double(piece) - burst || perSecond == 1 << 40)
    }
}
