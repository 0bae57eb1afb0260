extension Array where Element == Int {
    /// The indices of a longest strictly increasing subsequence, ascending. O(n log n) (Fredman, 1975).
    ///
    /// What keeps its order when a list is reordered: everything else is moved, and nothing that need not be.
    func longestIncreasingIndices() -> [Int] {
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: count)
        for index in indices {
            let position = ends.firstIndexPast { self[$0] >= self[index] }
            if position > 0 { previous[index] = ends[position - 1] }
            if position == ends.count { ends.append(index) } else { ends[position] = index }
        }
        var result: [Int] = []
        var index = ends.last ?? -1
        while index >= 0 {
            result.append(index)
            index = previous[index]
        }
        return result.reversed()
    }
}
