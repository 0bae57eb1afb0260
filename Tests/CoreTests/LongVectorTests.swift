import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// A vector of more entries than one frame takes: a device that was killed thousands of times, each time a new incarnation.
@Suite struct LongVectorTests {
    private static func tips(_ count: Int) -> [(replica: ReplicaID, tip: ReplicaTip)] {
        (1...UInt64(count)).map { incarnation in
            let replica = ReplicaID(device: SimulatedDevice.all[2].id, incarnation: incarnation)
            let head = ReplicaTip.empty(space: .home, replica: replica).head
            return (replica, ReplicaTip(next: 1, head: head, stamp: .zero))
        }
    }

    /// What a core that holds `tips` answers when asked for all of it; every frame passes the codec.
    private func answer(holding tips: [(replica: ReplicaID, tip: ReplicaTip)]) throws -> [Frame] {
        var talk = Conversation(tips: tips)
        let id = talk.accept(1)
        talk.hear(.received(id, .haveRequest(Frame.HaveRequest(space: .home)), bytes: 30))
        let haves = talk.sent(id).filter { $0.haveEntries != nil }
        for frame in haves { #expect(try FrameCodec.decode(FrameCodec.encode(frame)) == frame) }
        return haves
    }

    @Test(arguments: [8_191, 8_192, 8_193, Limits.vectorEntries])
    func `is said in several frames and understood as one`(count: Int) throws {
        let frames = try answer(holding: Self.tips(count))
        #expect(frames.count == (count + Limits.haveEntries - 1) / Limits.haveEntries)
        var listener = Conversation(own: 1)
        let id = listener.accept(0)
        for frame in frames {
            listener.hear(.received(id, frame, bytes: 1_000))
            #expect(listener.closed(id) == nil)
            #expect(listener.sent(id).allSatisfy { $0 != .haveRequest(Frame.HaveRequest(space: .home)) })
        }
        let view = listener.core.peers(at: listener.now).first { $0.connection == id }
        #expect(view?.weLack == UInt64(count))
    }

    @Test func `one of more entries than a vector may have ends the session`() throws {
        let frames = try answer(holding: Self.tips(Limits.vectorEntries + 1))
        var listener = Conversation(own: 1)
        let id = listener.accept(0)
        for frame in frames { listener.hear(.received(id, frame, bytes: 1_000)) }
        #expect(listener.closed(id) == .badVector)
    }

    @Test func `as many moved entries as fill a frame are followed by an empty one, which ends the row`() {
        var talk = Conversation()
        let id = talk.accept(1)
        let segments = (1...UInt64(Limits.haveEntries)).map { incarnation in
            var author = Author(0, incarnation: incarnation)
            return author.write()
        }
        talk.hear(.appended(StoreChange(segments: segments, stateDigest: .zero, additions: [])))
        talk.wait(milliseconds: 500)
        let frames = talk.sent(id).filter { $0.haveEntries != nil }
        #expect(frames.map { $0.haveEntries?.count } == [Limits.haveEntries, 0])
        var listener = Conversation(own: 1)
        let other = listener.accept(0)
        for frame in frames {
            listener.hear(.received(other, frame, bytes: 1_000))
            #expect(listener.sent(other).allSatisfy { $0 != .haveRequest(Frame.HaveRequest(space: .home)) })
        }
        #expect(
            listener.core.peers(at: listener.now).first { $0.connection == other }?.weLack == UInt64(segments.count))
    }

    // In step

    /// Bytes of all frames, hellos included, until two that hold the same have nothing more to say.
    private func bytesOfHandshake(holding tips: [(replica: ReplicaID, tip: ReplicaTip)]) throws -> Int {
        var sides = [Conversation(own: 0, tips: tips), Conversation(own: 1, tips: tips)]
        let ids = [sides[0].accept(1), sides[1].accept(0)]
        var waiting = [0, 1].map { (to: 1 - $0, frames: sides[$0].sent(ids[$0])) }
        var bytes = 0
        func deliver() throws {
            while let (to, frames) = waiting.popLast() {
                for frame in frames {
                    let encoded = try FrameCodec.encode(frame)
                    bytes += encoded.count
                    // Both have heard one already.
                    if case .hello = frame { continue }
                    sides[to].hear(.received(ids[to], frame, bytes: encoded.count))
                    #expect(sides[to].closed(ids[to]) == nil)
                    waiting.append((1 - to, sides[to].sent(ids[to])))
                }
            }
        }
        try deliver()
        for side in [0, 1] {
            sides[side].wait(milliseconds: 1_000)
            waiting.append((1 - side, sides[side].sent(ids[side])))
        }
        try deliver()
        for side in [0, 1] {
            let view = sides[side].core.peers(at: sides[side].now).first { $0.connection == ids[side] }
            #expect(view?.weLack == 0)
        }
        return bytes
    }

    @Test func `who is in step shakes hands in as many bytes, however many replicas there are`() throws {
        let bytes = try [1, 10, 1_000, 10_000].map { try bytesOfHandshake(holding: Self.tips($0)) }
        #expect(Set(bytes).count == 1 && bytes[0] <= 16 << 10, "\(bytes)")
    }

    @Test func `a change among a thousand replicas names only what its author has come to know since`() {
        var author = Author(0)
        var held = VersionVector(Self.tips(1_000).map { VersionVector.Entry(replica: $0.replica, next: 1) })
        let first = author.write(holding: held)
        #expect(first.segment.bytes.count > 40_000)
        held.advance(first.segment.replica, to: first.segment.end)
        held.advance(Self.tips(1)[0].replica, to: 2)
        let second = author.write(holding: held)
        #expect(second.segment.bytes.count + second.segment.signature.count < 200)
    }
}
