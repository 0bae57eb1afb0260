import Testing

import Lanyard

/// The merge of two changes to one sequence, and sequences whose elements are made on demand.
@Suite(.timeLimit(.minutes(20))) struct MergeTests {
    private func merge(_ base: String, _ changed: String, _ other: String) -> String {
        String(SequenceMerge.merge(base: Array(base), changed: Array(changed), other: Array(other)))
    }

    @Test func `both changes are made`() {
        #expect(merge("abc", "xabc", "abcy") == "xabcy")
        #expect(merge("abc", "ac", "abc!") == "ac!")
        #expect(merge("abc", "", "abXc") == "X")
        #expect(merge("", "a", "b") == "ab")
        #expect(merge("abc", "aXc", "ac") == "aXc")
        #expect(merge("abcdef", "abXdef", "abcdYf") == "abXdYf")
    }

    @Test func `a side that changed nothing leaves the other's result, and deletions meet`() {
        var random = SystemRandomNumberGenerator()
        func changed(_ base: [Int]) -> [Int] {
            var sequence = base
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                if Bool.random(using: &random), !sequence.isEmpty {
                    sequence.remove(at: Int.random(in: 0..<sequence.count, using: &random))
                } else {
                    sequence.insert(Int.random(in: 0...4), at: Int.random(in: 0...sequence.count, using: &random))
                }
            }
            return sequence
        }
        for _ in 0..<2_000 {
            let base = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...4, using: &random) }
            let (mine, other) = (changed(base), changed(base))
            #expect(SequenceMerge.merge(base: base, changed: mine, other: base) == mine, "\(base) \(mine)")
            #expect(SequenceMerge.merge(base: base, changed: base, other: other) == other, "\(base) \(other)")
            #expect(SequenceMerge.merge(base: base, changed: mine, other: []).count <= max(0, mine.count))
        }
    }

    @Test func `what is too much to compare counts as replaced between the ends that are equal`() {
        let base = Array(0..<20_000)
        let mine = [-1] + base.reversed()
        let other = base + [-2]
        let merged = SequenceMerge.merge(base: base, changed: mine, other: other)
        #expect(merged == mine + [-2])
    }

    // MARK: Sequences on demand

    @Test func `an element is made only once the one before is finished with`() async throws {
        let (made, make) = AsyncStream<Int>.makeStream()
        let numbers = PulledSequence<Int> { give in
            for number in 1...3 {
                make.yield(number)
                try await give(number)
            }
            make.finish()
        }
        var (iterator, log) = (numbers.makeAsyncIterator(), made.makeAsyncIterator())
        #expect(try await iterator.next() == 1)
        #expect(await log.next() == 1)
        #expect(try await iterator.next() == 2)
        #expect(await log.next() == 2)
        #expect(try await iterator.next() == 3)
        #expect(await log.next() == 3)
        #expect(try await iterator.next() == nil)
        #expect(await log.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test func `an error comes behind the elements before it, once`() async throws {
        struct Broken: Error {}
        let numbers = PulledSequence<Int> { give in
            try await give(1)
            throw Broken()
        }
        var iterator = numbers.makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func `a loop that is left and a task that is cancelled end the producer`() async throws {
        let (ended, end) = AsyncStream<Bool>.makeStream()
        let numbers = PulledSequence<Int> { give in
            defer { end.yield(Task.isCancelled) }
            while true { try await give(1) }
        }
        var log = ended.makeAsyncIterator()
        for try await _ in numbers { break }
        #expect(await log.next() == true)
        let silent = PulledSequence<Int> { give in
            defer { end.yield(Task.isCancelled) }
            try await give(1)
            for await _ in AsyncStream<Void>.makeStream().stream {}
        }
        let (reading, read) = AsyncStream<Void>.makeStream()
        let task = Task {
            for try await _ in silent { read.finish() }
        }
        for await _ in reading {}
        task.cancel()
        try await task.value
        #expect(await log.next() == true)
    }
}
