import ControlAPI
import Lanyard
import Testing

/// The order of edits that were made apart.
@Suite struct TextTransformationTests {
    @Test func `of two insertions at one place the one ordered later stands to the left`() {
        expect("ab", (1, 0, "L"), (1, 0, "E"), "aLEb")
    }

    @Test func `what both delete goes once, and what one inserts into a deleted range stays`() {
        expect("abcdef", (1, 3, ""), (2, 3, "X"), "aXf")
        expect("abcdef", (2, 1, "Y"), (0, 6, ""), "Y")
        expect("abcdef", (0, 6, ""), (3, 0, "Y"), "Y")
    }

    @Test(arguments: TextUnit.allCases) func `both ways lead to the same text`(unit: TextUnit) {
        for seed in 0..<4_000 as Range<UInt64> {
            var random = Seeded(seed)
            let text = random.text(upTo: 12)
            let later = random.steps(in: text, unit: unit)
            let earlier = random.steps(in: text, unit: unit)
            let moved = TextTransformation.transform(later, over: earlier, in: unit)
            var (one, other) = (text, text)
            one.apply(earlier + moved.later, in: unit)
            other.apply(later + moved.earlier, in: unit)
            #expect(one.utf8.elementsEqual(other.utf8), "seed \(seed): \(text) \(later) \(earlier) → \(one) ≠ \(other)")
            for step in later + earlier {
                for letter in step.inserted.unicodeScalars where letter.isASCII && letter.properties.isUppercase {
                    // Deleted by a later step of its own list, or there.
                    let own = later.contains(step) ? later : earlier
                    var alone = text
                    alone.apply(own, in: unit)
                    if alone.unicodeScalars.contains(letter) {
                        #expect(one.unicodeScalars.contains(letter), "seed \(seed) lost \(letter)")
                    }
                }
            }
        }
    }

    @Test func `typing on, and deleting what was typed, is one step`() {
        var steps: [TextSplice] = []
        for (index, letter) in "hello 😀".enumerated() {
            steps.record(TextSplice(offset: 3 + index, deleted: 0, inserted: String(letter)), in: .utf16)
        }
        #expect(steps == [TextSplice(offset: 3, deleted: 0, inserted: "hello 😀")])
        steps.record(TextSplice(offset: 9, deleted: 2, inserted: ""), in: .utf16)
        #expect(steps == [TextSplice(offset: 3, deleted: 0, inserted: "hello ")])
        steps.record(TextSplice(offset: 2, deleted: 7, inserted: ""), in: .utf16)
        #expect(steps.count == 2, "it reaches beyond what was typed")
        var deleted: [TextSplice] = []
        for offset in [9, 8, 7] { deleted.record(TextSplice(offset: offset, deleted: 1, inserted: ""), in: .scalars) }
        #expect(deleted == [TextSplice(offset: 7, deleted: 3, inserted: "")])
    }

    @Test(arguments: TextUnit.allCases) func `offsets are counted as the views of a string count them`(unit: TextUnit) {
        for seed in 0..<200 as Range<UInt64> {
            var random = Seeded(seed)
            let text = random.text(upTo: seed % 20 == 0 ? 3_000 : 30) + "e\u{301}"
            var indices: [Int: String.Index] = [:]
            for index in text.unicodeScalars.indices + [text.endIndex] {
                let offset =
                    switch unit {
                    case .utf8: text.utf8.distance(from: text.startIndex, to: index)
                    case .utf16: text.utf16.distance(from: text.startIndex, to: index)
                    case .scalars: text.unicodeScalars.distance(from: text.startIndex, to: index)
                    }
                #expect(text.offset(of: index, in: unit) == offset)
                indices[offset] = index
            }
            for offset in -1...unit.count(text) + 2 {
                #expect(text.index(at: offset, in: unit) == indices[offset], "seed \(seed) at \(offset)")
            }
        }
    }

    @Test func `equal letters of other scalars are told apart`() throws {
        var session = TextSession(unit: .scalars)
        _ = session.take(text: "", version: "0")
        session.edit(TextSplice(offset: 0, deleted: 0, inserted: "\u{E9}"))
        let batch = try #require(session.nextBatch { "key" })
        var shown = "\u{E9}"
        let line = [TextSplice(offset: 0, deleted: 0, inserted: "e\u{301}")]
        shown.apply(session.take(line, version: "1", key: batch.key), in: .scalars)
        #expect(shown.unicodeScalars.count == 2 && session.confirmed.unicodeScalars.count == 2)
    }

    /// Several sessions and an agent that orders their edits: every letter that was typed and not deleted by a person is there in
    /// the end, everywhere, whatever is lost on the way.
    @Test func `sessions and their agent show the same in the end`() throws {
        for seed in 0..<600 as Range<UInt64> {
            var world = SessionWorld(seed: seed)
            for _ in 0..<120 { try world.step() }
            try world.finish()
            for session in world.sessions {
                #expect(session.confirmed == world.agent.text, "seed \(seed)")
                #expect(session.isClean)
            }
            for shown in world.shown { #expect(shown == world.agent.text, "seed \(seed)") }
            for letter in world.typed { #expect(world.agent.text.contains(letter), "seed \(seed) lost \(letter)") }
            #expect(Set(world.agent.text).count == world.agent.text.count, "seed \(seed) doubled a letter")
        }
    }

    private typealias Parts = (offset: Int, deleted: Int, inserted: String)

    private func expect(_ text: String, _ later: Parts, _ earlier: Parts, _ expected: String) {
        let (later, earlier) = ([TextSplice(later)], [TextSplice(earlier)])
        let moved = TextTransformation.transform(later, over: earlier, in: .scalars)
        var (one, other) = (text, text)
        one.apply(earlier + moved.later, in: .scalars)
        other.apply(later + moved.earlier, in: .scalars)
        #expect(one == expected)
        #expect(other == expected)
    }
}

extension TextSplice {
    fileprivate init(_ parts: (offset: Int, deleted: Int, inserted: String)) {
        self.init(offset: parts.offset, deleted: parts.deleted, inserted: parts.inserted)
    }
}

/// A reference for the agent: it orders edits, forgets old ones, and may be started again.
struct OrderingAgent {
    var text = ""
    var run = 0
    var entries: [(steps: [TextSplice], key: String)] = []
    var answered: [String: Int] = [:]
    let unit: TextUnit

    var version: String { "\(run)-\(entries.count)" }

    /// False: the version is unknown, and the edit was not applied.
    mutating func apply(_ batch: TextSession.Batch) -> Bool {
        if answered[batch.key] != nil { return true }
        let parts = batch.request.version.split(separator: "-").compactMap { Int($0) }
        guard parts[0] == run else { return false }
        var steps = batch.request.edits
        for entry in entries[parts[1]...] {
            steps = TextTransformation.transform(steps, over: entry.steps, in: unit).later
        }
        text.apply(steps, in: unit)
        entries.append((steps, batch.key))
        answered[batch.key] = run
        return true
    }
}

/// Sessions with lines on the way to them, batches on the way from them, and connections that are lost.
private struct SessionWorld {
    var random: Seeded
    var agent: OrderingAgent
    var sessions: [TextSession] = []
    var shown: [String] = []
    /// The number of lines that each session has taken; nil: it is not connected.
    var taken: [Int?] = []
    /// Batches that have not reached the agent.
    var flying: [TextSession.Batch?] = []
    /// The letters that were typed, without those that were deleted.
    var typed: Set<Character> = []
    var letters = 0
    var keys = 0

    init(seed: UInt64) {
        random = Seeded(seed)
        agent = OrderingAgent(unit: TextUnit.allCases[Int(seed % 3)])
        for _ in 0..<3 {
            sessions.append(TextSession(unit: agent.unit))
            shown.append("")
            taken.append(nil)
            flying.append(nil)
        }
    }

    mutating func step() throws {
        let index = Int.random(in: 0..<sessions.count, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: agent = restarted()
        case 1: taken[index] = nil
        case 2...8: type(index)
        case 9...12: send(index)
        case 13...15: deliver(index)
        default: receive(index)
        }
    }

    private func restarted() -> OrderingAgent {
        var agent = agent
        agent.run += 1
        agent.entries = []
        return agent
    }

    private mutating func type(_ index: Int) {
        let count = agent.unit.count(shown[index])
        var offset = Int.random(in: 0...count, using: &random)
        while shown[index].index(at: offset, in: agent.unit) == nil { offset -= 1 }
        // A new letter each time, so that none is lost unseen.
        letters += 1
        let letter = Character(Unicode.Scalar(UInt32(0x4E00 + letters))!)
        typed.insert(letter)
        var step = TextSplice(offset: offset, deleted: 0, inserted: String(letter))
        // Now and then in place of letters that stand there.
        if let place = shown[index].index(at: offset, in: agent.unit), Int.random(in: 0..<4, using: &random) == 0 {
            let replaced = shown[index][place...].prefix(Int.random(in: 1...3, using: &random))
            step.deleted = agent.unit.count(String(replaced))
            typed.subtract(replaced)
        }
        sessions[index].edit(step)
        shown[index].apply([step], in: agent.unit)
    }

    /// Begins to send, where lines come.
    private mutating func send(_ index: Int) {
        guard taken[index] != nil, flying[index] == nil else { return }
        keys += 1
        flying[index] = sessions[index].nextBatch { "k\(keys)" }
    }

    /// The batch reaches the agent.
    private mutating func deliver(_ index: Int) {
        guard let batch = flying[index] else { return }
        flying[index] = nil
        if !agent.apply(batch), sessions[index].sent?.key == batch.key {
            sessions[index].handleForgotten()
            taken[index] = nil
        }
    }

    /// A line reaches the session, or it connects anew.
    private mutating func receive(_ index: Int) {
        let isOfThisRun = sessions[index].version?.hasPrefix("\(agent.run)-") ?? false
        if let count = taken[index], count <= agent.entries.count, isOfThisRun {
            guard count < agent.entries.count else { return }
            let entry = agent.entries[count]
            show(index, sessions[index].take(entry.steps, version: "\(agent.run)-\(count + 1)", key: entry.key))
            taken[index] = count + 1
            return
        }
        if let batch = sessions[index].sent {
            flying[index] = nil
            if agent.apply(batch) { sessions[index].handleApplied() } else { sessions[index].handleForgotten() }
        }
        show(index, sessions[index].take(text: agent.text, version: agent.version))
        taken[index] = agent.entries.count
    }

    private mutating func show(_ index: Int, _ steps: [TextSplice]) { shown[index].apply(steps, in: agent.unit) }

    mutating func finish() throws {
        for _ in 0..<200 {
            for index in sessions.indices {
                if taken[index] == nil { receive(index) }
                send(index)
                deliver(index)
                receive(index)
            }
        }
    }
}

/// Reproducible chance (SplitMix64).
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func text(upTo count: Int) -> String {
        let letters: [Character] = ["a", "b", "é", "漢", "😀", " "]
        return String((0..<Int.random(in: 0...count, using: &self)).map { _ in letters.randomElement(using: &self)! })
    }

    /// Steps that fit a text; each inserts letters that stand nowhere else.
    mutating func steps(in text: String, unit: TextUnit) -> [TextSplice] {
        var text = text
        var steps: [TextSplice] = []
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            let scalars = text.unicodeScalars
            let start = Int.random(in: 0...scalars.count, using: &self)
            let end = Int.random(in: start...min(scalars.count, start + 4), using: &self)
            let lower = scalars.index(scalars.startIndex, offsetBy: start)
            let upper = scalars.index(scalars.startIndex, offsetBy: end)
            let letters = (0..<Int.random(in: 0...2, using: &self)).map { _ in
                "ABCDEFGHIJKLMNOPQRSTUVWXYZ😺".randomElement(using: &self)!
            }
            let step = TextSplice(
                offset: text.offset(of: lower, in: unit), deleted: unit.count(String(text[lower..<upper])),
                inserted: String(letters))
            steps.append(step)
            text.apply([step], in: unit)
        }
        return steps
    }
}
