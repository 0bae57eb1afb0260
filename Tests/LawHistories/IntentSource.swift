import ReferenceModels

/// What people do to values of one shape, at random. Few keys and elements, so that they meet.
struct IntentSource {
    private let shape: Shape
    private let words: [PlainText]
    /// Whether sums leave 64 bits.
    private let isHuge: Bool

    init(of shape: Shape, _ random: inout SeededGenerator) {
        self.shape = shape
        // Two that look alike and are different, and a few that are plain.
        let all: [PlainText] = ["a", "b", "c", "7", "", "\u{e9}", "e\u{301}", "d"]
        words = Array(all.prefix(2 + random.below(all.count - 1)))
        isHuge = random.once(in: 20)
    }

    /// One to three edits of one change.
    func next(_ random: inout SeededGenerator) -> [Intent] {
        let count = random.once(in: 3) ? 1 + random.below(3) : 1
        return (0..<count).map { _ in intent(shape, depth: 0, &random) }
    }

    private func word(_ random: inout SeededGenerator) -> PlainText { random.element(of: words) }

    private func intent(_ shape: Shape, depth: Int, _ random: inout SeededGenerator) -> Intent {
        switch shape {
        case .register, .constant: return .set(word(&random))
        case .counter:
            if isHuge, random.once(in: 3) { return .increment(random.once(in: 2) ? .max - 2 : .min + 2) }
            return .increment(Int64(random.below(8)) - 2)
        case .set:
            if random.once(in: 12) { return .create }
            return random.below(5) < 3 ? .add(word(&random)) : .remove(word(&random))
        case .addOnlySet: return random.once(in: 8) ? .create : .add(word(&random))
        case .dictionary(let nested):
            if random.once(in: 16) { return .create }
            if random.once(in: 4) { return .removeKey(word(&random)) }
            return .update(word(&random), intent(nested, depth: depth + 1, &random))
        case .members(let members):
            let member = random.element(of: members)
            return .update(member.name, intent(member.shape, depth: depth, &random))
        case .list(let nested): return inList(nested, depth: depth, &random)
        case .orderedSet: return inOrderedSet(&random)
        case .text: return inText(&random)
        case .attachments:
            return random.below(5) < 3 ? .add(word(&random)) : .delete(at: index(&random), count: 1 + random.below(2))
        case .any: return ofAnyKind(depth: depth, &random)
        }
    }

    private func inList(_ nested: Shape, depth: Int, _ random: inout SeededGenerator) -> Intent {
        switch random.below(16) {
        case 0: .create
        case 1...5:
            .insert(
                at: index(&random),
                (0..<1 + random.below(3)).map { _ in intent(nested, depth: depth + 1, &random) })
        case 6...9: .edit(at: index(&random), intent(nested, depth: depth + 1, &random))
        case 10...12: .delete(at: index(&random), count: 1 + random.below(3))
        case _: .move(from: index(&random), to: index(&random))
        }
    }

    private func inOrderedSet(_ random: inout SeededGenerator) -> Intent {
        switch random.below(16) {
        case 0: .create
        case 1...6: .place(at: index(&random), (0..<1 + random.below(3)).map { _ in word(&random) })
        case 7...8: .remove(word(&random))
        case 9...10: .delete(at: index(&random), count: 1 + random.below(2))
        case _: .move(from: index(&random), to: index(&random))
        }
    }

    private func inText(_ random: inout SeededGenerator) -> Intent {
        switch random.below(16) {
        case 0: .create
        case 1...8: .type(at: index(&random), run(&random))
        case 9...13: .delete(at: index(&random), count: 1 + random.below(4))
        case _: .rewrite(run(&random))
        }
    }

    /// Letters that tell who typed them are not needed: what is compared is the whole text.
    private func run(_ random: inout SeededGenerator) -> PlainText {
        var text = ""
        for _ in 0..<1 + random.below(4) {
            text.unicodeScalars.append(
                random.element(of: ["a", "b", "c", "\u{301}", "\u{1f469}", "\u{200d}", "\u{5d0}", "\u{202e}"]))
        }
        return PlainText(text)
    }

    private func ofAnyKind(depth: Int, _ random: inout SeededGenerator) -> Intent {
        // Deeper values are leaves more often, or histories would consist of creations.
        let kinds: [Kind] =
            depth < 2 ? Kind.allCases + [.dictionary, .list, .dictionary] : [.register, .counter, .set, .text]
        let kind = random.element(of: kinds)
        return .typed(kind, intent(.of(kind), depth: depth + 1, &random))
    }

    private func index(_ random: inout SeededGenerator) -> Int { random.below(12) }
}
