import ControlAPI
import ControlServer
import Testing

/// Why the bytes of an attachment are not here: of several reasons, the one to do something about.
struct AttachmentFactsTests {
    private func facts(_ change: (inout AttachmentFacts) -> Void = { _ in }) -> AttachmentFacts {
        var facts = AttachmentFacts(id: "7QXP", size: 10 << 20, author: "desk")
        change(&facts)
        return facts
    }

    private func expect(
        _ facts: AttachmentFacts, says words: [String], hints: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let fault = try #require(facts.fault, sourceLocation: sourceLocation)
        for word in words {
            #expect(fault.detail.contains(word), "\(fault.detail)", sourceLocation: sourceLocation)
        }
        for hint in hints { #expect(fault.hint.contains(hint), "\(fault.hint)", sourceLocation: sourceLocation) }
    }

    @Test func `what is here is fine, whatever else is known`() {
        #expect(facts { $0.isHere = true }.fault == nil)
        let refused = facts { facts in
            facts.isHere = true
            facts.refusal = .attachmentTooLarge
            facts.liars = ["tablet"]
        }
        #expect(refused.fault == nil)
    }

    @Test func `nobody has it: who had it last, or who attached it`() throws {
        try expect(facts(), says: ["No connected device", "attached on desk"], hints: ["lanyard peers"])
        let known = facts { $0.last = ("phone", "2025-11-21") }
        try expect(known, says: ["phone had them last (2025-11-21)"], hints: ["lanyard peers"])
        #expect(facts().isAlone && known.isAlone)
    }

    @Test func `who is connected has the same part of it: who has the rest`() throws {
        let stuck = facts { facts in
            facts.presentBytes = 4_500_000
            facts.spentHolders = ["tablet", "phone"]
            facts.last = ("desk", "5 min ago")
        }
        try expect(
            stuck, says: ["42 %", "tablet and phone have no more", "desk had them last"], hints: ["lanyard peers"])
        #expect(stuck.isAlone)
        var moving = stuck
        moving.holders = ["desk"]
        try expect(moving, says: ["waits", "desk has it"], hints: ["lanyard fetch 7QXP"])
    }

    @Test func `the policy does not want it`() throws {
        let unwanted = facts { facts in
            facts.policy = "up to 1.0 MiB"
            facts.holders = ["desk"]
        }
        try expect(
            unwanted, says: ["unasked", "10 MiB", "up to 1.0 MiB"], hints: ["lanyard fetch 7QXP", "lanyard pin 7QXP"])
    }

    @Test func `it is on its way, or waits for its turn`() throws {
        let arriving = facts { facts in
            facts.isArriving = true
            facts.presentBytes = 4_500_000
            facts.holders = ["desk", "phone"]
        }
        try expect(arriving, says: ["being fetched: 42 %", "from desk and phone"], hints: ["lanyard fetch 7QXP"])
        var over = arriving
        over.presentBytes = 1 << 40
        try expect(over, says: ["99 %"], hints: [])
        var empty = arriving
        empty.size = 0
        try expect(empty, says: ["0 %"], hints: [])
        try expect(
            facts { $0.holders = ["desk"] }, says: ["waits", "desk has it", "0 %"], hints: ["lanyard fetch 7QXP"])
    }

    @Test func `this machine refused it, with the code`() throws {
        let full = facts { facts in
            facts.refusal = .quotaExceeded(space: "home", quota: 1 << 30, used: 1 << 29, needed: 10 << 20)
            facts.holders = ["desk"]
            facts.isArriving = true
        }
        try expect(full, says: ["(quota_exceeded)", "1.0 GiB"], hints: ["--quota"])
        #expect(!full.isAlone)
    }

    @Test func `the only one who has it sent something else`() throws {
        try expect(facts { $0.liars = ["tablet"] }, says: ["tablet sent bytes that are not"], hints: ["doctor --deep"])
        let another = facts { facts in
            facts.liars = ["tablet"]
            facts.holders = ["desk"]
        }
        try expect(another, says: ["waits", "desk has it"], hints: [])
    }
}
