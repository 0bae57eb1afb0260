extension [UInt64] {
    /// Sorts by the upper 32 bits, least digits first. The lower ones ascend before and, where the upper are equal, after.
    mutating func sortByUpperHalf() {
        guard count > 256 else { return sort() }
        var sorted = self
        for shift in [32, 43, 54] as [UInt64] {
            var ends = [Int](repeating: 0, count: 1 << 11)
            for entry in self { ends[Int(entry >> shift & 0x7ff)] += 1 }
            if ends.contains(count) { continue }
            var sum = 0
            for digit in ends.indices { (ends[digit], sum) = (sum, sum + ends[digit]) }
            for entry in self {
                let digit = Int(entry >> shift & 0x7ff)
                sorted[ends[digit]] = entry
                ends[digit] += 1
            }
            swap(&sorted, &self)
        }
    }
}
