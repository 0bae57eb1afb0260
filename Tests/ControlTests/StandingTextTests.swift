import ControlAPI
import Testing

/// The sentence that answers "Am I in step?", for standings that a real agent cannot be made to have at will.
@Suite struct StandingTextTests {
    private static let now = Timestamp(millisecondsSinceEpoch: 100 * 86_400_000)
    private static let noon = Timestamp(millisecondsSinceEpoch: 100 * 86_400_000 - 43_200_000)

    private func standing(
        _ name: String, _ state: DeviceStanding.State, connected: Bool = true, unsent: Int? = nil, met: Bool = true
    ) -> DeviceStanding {
        DeviceStanding(
            id: "\(name)-X", shortID: "BBBBBBB", name: name, state: state, connected: connected, unsent: unsent,
            awaySince: connected ? nil : Self.noon, lastSeen: met ? Self.noon : nil)
    }

    private func sentence(
        _ standings: [DeviceStanding], isInStep: Bool? = nil, absence: StandingText.Absence = .unpaired
    ) -> String {
        StandingText(standings, times: TimeText(now: Self.now)).sentence(
            isInStep: isInStep ?? standings.allSatisfy { $0.state == .inStep }, absence: absence)
    }

    @Test func `without standings it says why there are none`() {
        #expect(sentence([]) == "No other device is paired with this one.")
        #expect(sentence([], absence: .blocked) == "In step with no device: the others are blocked here.")
        #expect(
            sentence([], isInStep: false, absence: .revoked) == "This device was revoked: it gets and sends nothing.")
    }

    @Test func `one device is named, several are counted`() {
        let (desk, hall) = (standing("desk", .inStep, unsent: 0), standing("hall", .inStep, unsent: 0))
        #expect(sentence([desk]) == "In step with desk.")
        #expect(sentence([desk, hall]) == "In step with all 2 devices.")
        #expect(sentence([desk, hall], isInStep: false) == "Something is missing here.")
        #expect(
            sentence([desk, standing("hall", .behind, unsent: 1)])
                == "In step with 1 of 2 devices; 1 change not yet sent to hall.")
        #expect(sentence([desk], absence: .revoked) == "In step with desk.", "standings count first")
    }

    @Test func `of a device that is away it says since when, and what it lacks`() {
        #expect(sentence([standing("hall", .inStep, connected: false)]) == "In step with hall; hall away since Friday.")
        #expect(
            sentence([standing("hall", .behind, connected: false, unsent: 12)])
                == "Not in step with any device; hall away since Friday, 12 changes unsent.")
        #expect(
            sentence([standing("hall", .unknown, connected: false)])
                == "Not in step with any device; hall away since Friday, what it holds is not known.")
        #expect(
            sentence([standing("hall", .unknown, connected: false, met: false)])
                == "Not in step with any device; hall was never met, what it holds is not known.")
    }

    @Test func `of more than three the devices that lack something come first, among them those that are away`() {
        let standings = [
            standing("a", .inStep, unsent: 0), standing("b", .inStep, connected: false, unsent: 0),
            standing("c", .behind, unsent: 1), standing("d", .unknown),
            standing("f", .behind, connected: false, unsent: 2), standing("e", .behind, connected: false, unsent: 3),
        ]
        #expect(
            sentence(standings)
                == "In step with 2 of 6 devices; e away since Friday, 3 changes unsent; f away since Friday, 2 changes "
                + "unsent; 1 change not yet sent to c; and 2 more devices.")
    }
}
