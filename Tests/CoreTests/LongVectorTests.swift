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

    @Test(arguments: [8_191, 8_192, 8_193, Limits.contextEntries])
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
        let frames = try answer(holding: Self.tips(Limits.contextEntries + 1))
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
}
