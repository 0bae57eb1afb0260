import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// A device that a person blocked on this node: nothing goes to it, and nothing comes from it directly.
@Suite struct BlockTests {
    private static let stolen = Conversation.devices[1].id
    private static let address = Endpoint(host: "h1", port: 21_817)

    private func trusted(_ talk: Conversation) -> [DeviceID]? {
        talk.effects.lazy.compactMap { effect in
            guard case .trust(let devices, _) = effect else { return nil }
            return devices
        }.first
    }

    private func dials(_ talk: Conversation) -> [Endpoint] {
        talk.effects.compactMap { effect in
            guard case .dial(_, let endpoint) = effect else { return nil }
            return endpoint
        }
    }

    /// What of the promise does not hold.
    private func broken(faults: CoreFaults = []) -> [String] {
        var broken: [String] = []
        func check(_ holds: Bool, _ promise: String) { if !holds { broken.append(promise) } }
        var talk = Conversation(faults: faults)
        let (id, other) = (talk.accept(1), talk.accept(2))
        talk.hear(.blocked([Self.stolen]))
        check(talk.closed(id) == .blocked, "its session ends")
        check(talk.goodbye(id) == nil, "it is told nothing")
        check(trusted(talk) == [Conversation.devices[2].id], "the transport refuses it, for bulk connections, too")
        talk.hear(.closed(id, code: "closed_here"))
        talk.wait(milliseconds: 60_000)
        check(!dials(talk).contains(Self.address), "it is not dialled where it was met")
        talk.hear(.networkChanged)
        check(!dials(talk).contains(Self.address), "nor when the network changes")
        let late = ConnectionID(rawValue: 100)
        talk.hear(.opened(late, Self.stolen, remote: Endpoint(host: "h1", port: 40_001)))
        check(talk.closed(late) == .notMember, "what was accepted a moment ago is refused")
        check(talk.core.peers(at: talk.now).first { $0.device == Self.stolen }?.isBlocked == true, "it is shown")
        check(talk.core.isBlocked(Self.stolen), "who lets devices in is told")
        // What it wrote before or writes now comes through another member.
        let third = talk.core.upConnections.contains(other) ? other : talk.accept(2, runID: 9)
        var author = Author(1)
        let segment = author.write()
        talk.hear(.received(third, segment.have, bytes: 100))
        talk.hear(.received(third, segment.push(), bytes: 100))
        check(talk.persisted?.segments.first?.segment.replica == author.replica, "its changes are the space's still")
        return broken
    }

    @Test func `a blocked device has no session, is not dialled, and what it writes comes through others`() {
        #expect(broken() == [])
    }

    @Test func `serving a blocked device is noticed`() { #expect(broken(faults: .serveBlocked).count > 4) }

    @Test func `a restarted node does not dial or trust what is blocked, until that is undone`() {
        var talk = Conversation(blocked: [1])
        #expect(trusted(talk) == [Conversation.devices[2].id])
        talk.hear(.addressAdded(Self.address, device: Self.stolen, isStatic: false))
        #expect(dials(talk).isEmpty && talk.core.nextDeadline.map { $0 > talk.now } ?? true)
        talk.hear(.blocked([]))
        #expect(dials(talk) == [Self.address])
        #expect(trusted(talk)?.contains(Self.stolen) == true)
        _ = talk.accept(1)
        #expect(talk.core.connectedDevices == [Self.stolen])
    }

    @Test func `the ring of neighbours is closed over a blocked one`() {
        var bounds = CoreConfiguration.Bounds()
        bounds.connections = 2
        var talk = Conversation(members: 5, bounds: bounds)
        let ids = Conversation.devices.prefix(5).map(\.id).sorted()
        let place = ids.firstIndex(of: Conversation.devices[0].id)!
        let (next, second) = (ids[(place + 1) % 5], ids[(place + 2) % 5])
        for (number, device) in ids.enumerated() where device != Conversation.devices[0].id {
            talk.hear(.blocked([next]))
            let endpoint = Endpoint(host: "host\(number)", port: 1)
            talk.hear(.addressAdded(endpoint, device: device, isStatic: true))
            if device == next { #expect(dials(talk).isEmpty) }
            if device == second { #expect(dials(talk) == [endpoint], "it is the next neighbour now") }
        }
    }
}
