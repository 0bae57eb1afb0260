import Foundation
import Synchronization
import Testing

extension Rig {
    /// Asks these nodes at once, and answers in their order. One after the other would be slower than what is asked about.
    func ask<Answer: Sendable>(_ numbers: [Int], _ question: @Sendable (Node) throws -> Answer) throws -> [Answer] {
        let answers = Mutex<[Int: Result<Answer, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: numbers.count) { index in
            let answer = Result { try question(node(numbers[index])) }
            answers.withLock { $0[index] = answer }
        }
        return try answers.withLock { answers in try numbers.indices.compactMap { try answers[$0]?.get() } }
    }

    /// The lonely nodes hear nobody while the body runs; then the network is whole again, also when the body fails.
    func apart(_ lonely: Int..., body: () throws -> Void) throws {
        for number in lonely { try self("isolate", "\(number)") }
        defer { _ = try? self("heal") }
        try body()
    }

    /// True once all these nodes show this object with these fields.
    func show(_ numbers: [Int], _ object: String, _ fields: JSONValue) throws -> Bool {
        try ask(numbers) { try $0.fields(object) }.allSatisfy { $0 == fields }
    }

    func inStep(
        _ numbers: [Int] = [1, 2, 3], within bound: Duration = .seconds(5),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try eventually(within: bound, "nodes \(numbers) have equal digests", sourceLocation: sourceLocation) {
            Set(try ask(numbers) { try $0.digest() }).count == 1
        }
    }

    /// How every story ends: all nodes hold the same, and a person should look at exactly these things, wherever she sits.
    func expectEnding(
        in collections: String..., of numbers: [Int] = [1, 2, 3], conflicts expected: Set<String> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try inStep(numbers, sourceLocation: sourceLocation)
        let listed = try ask(numbers) { try $0.conflicts() }
        for (number, conflicts) in zip(numbers, listed) {
            let sentences = conflicts.filter { collections.contains($0.collection) }.map(\.sentence)
            #expect(
                sentences.sorted() == expected.sorted(), "conflicts of node \(number)", sourceLocation: sourceLocation)
        }
    }

    /// The object is not there, on any node.
    func expectAbsent(
        _ object: String, on numbers: [Int] = [1, 2, 3], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for (number, status) in zip(numbers, try ask(numbers) { try $0.run(["lanyard", "get", object]).status }) {
            #expect(status == 3, "node \(number) must not find \(object)", sourceLocation: sourceLocation)
        }
    }
}
