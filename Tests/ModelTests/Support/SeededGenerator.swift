/// SplitMix64: the same seed gives the same test in every process, so a failure that names its seed can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    /// Small numbers and those around powers of two: where varints and counters change their length.
    mutating func edgy(below limit: UInt64) -> UInt64 {
        let exponent = Int.random(in: 0..<63, using: &self)
        let near = (UInt64(1) << UInt64(exponent)) &+ next() % 3 &- 1
        return near % limit
    }
}
