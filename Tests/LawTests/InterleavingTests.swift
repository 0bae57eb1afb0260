import LawHistories
import SyncModel
import Testing

/// What several people write at one place, apart, stays in one piece each: "cat" and "dog" never become "cdaotg", however
/// each of them was typed. Asked of what is shown alone, without any idea of how places are kept.
@Suite struct InterleavingTests {
    @Test func `runs that were typed apart at one place are not mixed`() {
        for seed in 1...3_000 {
            var random = SeededGenerator(seed: UInt64(seed))
            let cast = Cast(count: 2 + random.below(3))
            var origin = Document<ReplicatedText>(replica: cast.replicas[0])
            origin.edit(wallMilliseconds: 1) { $0.insert("<>", at: 0) }
            // Somebody may have typed and erased there before.
            if random.once(in: 2) {
                origin.edit(wallMilliseconds: 2) { $0.insert("gone", at: 1) }
                origin.edit(wallMilliseconds: 3) { $0.removeSubrange(1..<5) }
            }
            let letters = Array("abcd")
            let documents = cast.replicas.indices.map { number in
                var document = origin.forked(as: cast.replicas[number])
                type(letters[number], in: &document, &random)
                return document
            }
            var merged = origin
            for document in documents.shuffled(using: &random) { merged.merge(document) }
            let text = merged.value.string
            for letter in letters.prefix(documents.count) {
                let pieces = text.split(omittingEmptySubsequences: true) { $0 != letter }
                #expect(pieces.count == 1, "\(text), seed \(seed)")
            }
        }
    }

    /// A few letters between the brackets, one by one: onwards, backwards, or where the hand falls.
    private func type(
        _ letter: Character, in document: inout Document<ReplicatedText>, _ random: inout SeededGenerator
    ) {
        let manner = random.below(3)
        for typed in 0..<2 + random.below(4) {
            let offset = 1 + (manner == 0 ? typed : manner == 1 ? 0 : random.below(typed + 1))
            document.edit(wallMilliseconds: 10) { $0.insert(String(letter), at: offset) }
        }
    }
}
