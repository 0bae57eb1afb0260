import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// The folder fails at the n-th step, for all n: refusals are typed, what was acknowledged stays, the next try goes on.
@Suite("Blobs: failing disk")
struct BlobFaultTests {
    @Test(arguments: [(BlobError.diskFull, 1), (.diskFull, 5), (.inputOutput(code: 5), 1), (.inputOutput(code: 5), 4)])
    func `a step that fails is refused as such, and nothing is lost by it`(error: BlobError, lasting: Int) throws {
        let total = try run(nil).attempts
        var refusals = 0
        for first in 0..<total {
            let result = try run((error, first..<first + lasting))
            refusals += result.refusals
            #expect(result.finding == nil, "\(error) at \(first)")
            if result.finding != nil { return }
        }
        #expect(refusals > total / 2, "most failures reach the caller")
        print("blobs, failing disk: \(error) at each of \(total) steps, for \(lasting): \(refusals) typed refusals")
    }

    /// Performs the history; a refused step is done again.
    private func run(_ fault: (error: BlobError, steps: Range<Int>)?) throws -> (
        attempts: Int, refusals: Int, finding: String?
    ) {
        let folder = CrashFolder()
        if let fault { folder.fail(fault.error, at: fault.steps) }
        let history = BlobHistory()
        let bed = BlobBed(folder: folder)
        for (content, hash) in BlobHistory.hashes.enumerated() {
            bed.names.set(hash, BlobHistory.unnamed.contains(content) ? .unneeded(since: 0) : .needed)
        }
        let blobs = try bed.open { $0.smallBytes = 1_000 }
        var refusals = 0
        for (index, step) in history.steps.enumerated() {
            while true {
                do throws(BlobError) {
                    try history.perform(step, on: blobs, bed.clock, folder)
                    break
                } catch {
                    refusals += 1
                    if error != fault?.error { return (0, 0, "step \(index) is refused as \(error)") }
                    if refusals > 100 { return (0, 0, "the fault never ends") }
                    // Chunks may have gone with a failed sync; blobs may not.
                    var expected = history.expectation(after: index, isInside: true)
                    expected.chunks = [:]
                    for content in expected.whole
                    where try !BlobBytes.areSame(
                        blobs.bytes(of: BlobHistory.hashes[content]), BlobHistory.contents[content])
                    { return (0, 0, "step \(index): content \(content) is another one") }
                }
            }
        }
        folder.heal()
        let attempts = folder.attempts
        let expected = history.expectation(after: history.steps.count, isInside: false)
        if let finding = try history.finding(in: blobs, folder, expected) { return (0, 0, finding) }
        // What was called durable after a failed sync is.
        var replay = folder.replay
        for action in folder.actions { replay.take(action.action) }
        let found = CrashFolder(replay)
        for content in expected.whole where BlobHistory.contents[content].count > 1_000 {
            let bytes = found.bytes(of: .whole(BlobHistory.hashes[content].hash))
            if !BlobBytes.areSame(bytes, BlobHistory.contents[content]) {
                return (0, 0, "content \(content) is not durable")
            }
        }
        return (attempts, refusals, nil)
    }
}
