import SyncCore
import SyncModel
import Testing

/// One core, told what a peer does that no honest one would.
struct BulkOffenceTests {
    private struct Talk {
        var core: BulkCore
        var now = Tick.milliseconds(1_000)
        var effects: [BulkEffect] = []
        let peer = DeviceID(bytes: [UInt8](repeating: 9, count: DeviceID.byteCount))!
        let id = ConnectionID(rawValue: 2)

        init() {
            core = BulkCore(configuration: BulkConfiguration(seed: 1), at: now)
            hear(.sessionUp(peer, dial: nil))
            hear(.opened(id, peer))
        }

        mutating func hear(_ input: BulkInput) { effects = core.step(input, at: now) }
        mutating func hear(_ frame: BulkFrame) { hear(.received(id, frame, bytes: 64)) }
        mutating func greet() { hear(.hello(.init(version: BulkProtocol.version, features: 0))) }

        mutating func wait(milliseconds: Int64) {
            now = now + .milliseconds(milliseconds)
            hear(.deadlinePassed)
        }

        var sent: [BulkFrame] { effects.compactMap { if case .send(_, let frame) = $0 { frame } else { nil } } }

        var closed: CloseReason? {
            effects.lazy.compactMap { if case .close(_, let reason) = $0 { reason } else { nil } }.first
        }

        /// It fetches a blob of four chunks and has asked for the first ones.
        mutating func askedLarge() throws -> UInt64 {
            greet()
            let want = BulkWorld.want(1, size: 4 * UInt64(BlobLayout.chunkBytes))
            hear(.fetch(want))
            hear(.holding(.init(blob: want.blob, part: .all)))
            hear(.begun(want.blob, present: ChunkSet(count: 4)))
            let ids = sent.compactMap { if case .request(let request) = $0 { request.id } else { nil } }
            return try #require(ids.first)
        }
    }

    private static let full = [UInt8](repeating: 1, count: BlobLayout.chunkBytes)

    @Test func `frames before the Hello, and a second Hello, end the connection`() {
        var talk = Talk()
        talk.hear(.want(.init(space: .home, blobs: [BulkWorld.name(1)])))
        #expect(talk.closed == .unexpectedFrame)
        talk = Talk()
        talk.greet()
        #expect(talk.closed == nil)
        talk.greet()
        #expect(talk.closed == .unexpectedFrame)
        talk = Talk()
        talk.wait(milliseconds: 5_000)
        #expect(talk.closed == .helloTimeout)
    }

    @Test func `bytes that were not asked for end the connection`() throws {
        var talk = Talk()
        talk.greet()
        talk.hear(.chunk(.init(id: 1, index: 0, bytes: Self.full)))
        #expect(talk.closed == .unsolicited)

        talk = Talk()
        talk.greet()
        talk.hear(.smallBlobs(.init(id: 7, blobs: [.init(index: 0, bytes: [1])], isLast: false)))
        #expect(talk.closed == .unsolicited)

        talk = Talk()
        var id = try talk.askedLarge()
        talk.hear(.chunk(.init(id: id, index: 1, bytes: Self.full)))
        #expect(talk.closed == .unsolicited, "not in order")

        talk = Talk()
        id = try talk.askedLarge()
        talk.hear(.chunk(.init(id: id, index: 0, bytes: [1])))
        #expect(talk.closed == .badChunk)

        talk = Talk()
        id = try talk.askedLarge()
        for chunk in 0..<4 { talk.hear(.chunk(.init(id: id, index: UInt32(chunk), bytes: Self.full))) }
        #expect(talk.closed == nil)
        talk.hear(.chunk(.init(id: id, index: 0, bytes: Self.full)))
        #expect(talk.closed == .unsolicited, "more than was asked for")
    }

    @Test func `a chunk of a cancelled request is used while it is missing`() throws {
        var talk = Talk()
        let id = try talk.askedLarge()
        let want = BulkWorld.want(1, size: 4 * UInt64(BlobLayout.chunkBytes))
        let blob = want.blob
        talk.hear(.endFetch(blob))
        #expect(talk.sent.contains(.cancel(.init(id: id))))
        talk.hear(.fetch(want))
        talk.hear(.holding(.init(blob: blob, part: .nothing)))
        talk.hear(.holding(.init(blob: blob, part: .all)))
        talk.hear(.begun(blob, present: ChunkSet(count: 4)))
        talk.hear(.chunk(.init(id: id, index: 0, bytes: Self.full)))
        #expect(talk.effects.contains(.write(blob, chunk: 0, Self.full)))
        talk.hear(.chunk(.init(id: id, index: 0, bytes: Self.full)))
        #expect(talk.closed == .unsolicited)
    }

    @Test func `what still comes of a blob that is whole is no offence`() throws {
        var talk = Talk()
        let first = try talk.askedLarge()
        let want = BulkWorld.want(1, size: 4 * UInt64(BlobLayout.chunkBytes))
        talk.hear(.endFetch(want.blob))
        talk.hear(.fetch(want))
        talk.hear(.holding(.init(blob: want.blob, part: .nothing)))
        talk.hear(.holding(.init(blob: want.blob, part: .all)))
        talk.hear(.begun(want.blob, present: ChunkSet(count: 4)))
        let second = try #require(
            talk.sent.lazy.compactMap { if case .request(let request) = $0 { request.id } else { nil } }.first)
        // The first request was taken back, and its answer was under way.
        for chunk in 0..<4 {
            talk.hear(.chunk(.init(id: first, index: UInt32(chunk), bytes: Self.full)))
            talk.hear(.chunkWritten(want.blob, chunk: chunk, .right))
        }
        talk.hear(.finished(want.blob))
        #expect(talk.sent.contains(.cancel(.init(id: second))))
        talk.hear(.chunk(.init(id: second, index: 0, bytes: Self.full)))
        #expect(talk.closed == nil)
    }

    @Test func `too many requests are refused, too many wants end the connection`() {
        var talk = Talk()
        talk.greet()
        for id in 1...UInt64(BulkLimits.openRequests) + 1 {
            talk.hear(.request(.init(id: id, space: .home, blob: BulkWorld.name(1), first: 0, count: 1)))
        }
        #expect(talk.sent.contains(.refusal(.init(id: UInt64(BulkLimits.openRequests) + 1, reason: .busy))))
        talk.hear(.request(.init(id: 3, space: .home, blob: BulkWorld.name(1), first: 0, count: 1)))
        #expect(talk.closed == .unexpectedFrame, "numbers grow")

        talk = Talk()
        talk.greet()
        for start in stride(from: 0, to: BulkLimits.wants, by: BulkLimits.blobsPerFrame) {
            let blobs = (start..<start + BulkLimits.blobsPerFrame).map { BulkWorld.name($0) }
            talk.hear(.want(.init(space: .home, blobs: blobs)))
            #expect(talk.closed == nil)
        }
        talk.hear(.want(.init(space: .home, blobs: [BulkWorld.name(-1)])))
        #expect(talk.closed == .overLimit)
    }

    @Test func `wants that are given up at once, again and again, do not pile up`() {
        var talk = Talk()
        talk.greet()
        // Nothing is looked up: the first answer of the disk does not come.
        for round in 0..<40 {
            let blobs = (0..<BulkLimits.blobsPerFrame).map { BulkWorld.name(round * BulkLimits.blobsPerFrame + $0) }
            talk.hear(.want(.init(space: .home, blobs: blobs)))
            if round < 39 { talk.hear(.unwant(.init(blobs: blobs))) }
            #expect(talk.core.load.lookUps <= 2 * BulkLimits.wants)
        }
        #expect(talk.closed == nil, "who gives up what came from elsewhere does the same")
        talk.hear(.want(.init(space: .home, blobs: [BulkWorld.name(-1)])))
        #expect(talk.core.load.lookUps > 0)
    }

    @Test func `refusals that nobody reads end the connection`() {
        var talk = Talk()
        talk.greet()
        var id: UInt64 = 0
        while talk.closed == nil, id < 10_000 {
            id += 1
            talk.hear(.request(.init(id: id, space: .home, blob: BulkWorld.name(1), first: 0, count: 1)))
        }
        #expect(talk.closed == .overLimit)
    }

    @Test func `who offends is dialled later and later`() {
        var core = BulkCore(configuration: BulkConfiguration(seed: 1), at: .milliseconds(0))
        let peer = DeviceID(bytes: [UInt8](repeating: 9, count: DeviceID.byteCount))!
        _ = core.step(.sessionUp(peer, dial: Endpoint(host: "h", port: 1)), at: .milliseconds(0))
        var effects = core.step(.fetch(BulkWorld.want(1, size: 10)), at: .milliseconds(0))
        var now = Tick.milliseconds(0)
        var pauses: [Int64] = []
        for _ in 0..<9 {
            let dial = effects.compactMap { if case .dial(let id, _) = $0 { id } else { nil } }
            guard let id = dial.first else {
                Issue.record("no dial: \(effects)")
                return
            }
            _ = core.step(.opened(id, peer), at: now)
            _ = core.step(.received(id, .hello(.init(version: BulkProtocol.version, features: 0)), bytes: 8), at: now)
            _ = core.step(.received(id, .hello(.init(version: BulkProtocol.version, features: 0)), bytes: 8), at: now)
            _ = core.step(.closed(id, code: "closed"), at: now)
            let start = now
            effects = []
            while effects.isEmpty, let next = core.nextDeadline {
                now = max(now, next)
                effects = core.step(.deadlinePassed, at: now).filter {
                    if case .dial = $0 { true } else { false }
                }
            }
            pauses.append((now - start).nanoseconds / 1_000_000)
        }
        #expect(pauses[0] >= 500 && pauses[8] >= 30_000 && pauses[8] <= 60_000, "\(pauses)")
    }
}
