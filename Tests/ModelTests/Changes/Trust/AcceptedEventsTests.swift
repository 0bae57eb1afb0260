import ReplicatedTypes
import SyncModel
import Testing

@Suite struct AcceptedEventsTests {
    private let device = DeviceID(bytes: [UInt8](repeating: 7, count: DeviceID.byteCount))!
    private let other = DeviceID(bytes: [UInt8](repeating: 8, count: DeviceID.byteCount))!

    private func dot(_ incarnation: UInt64, _ counter: UInt64) -> Dot {
        Dot(replica: ReplicaID(device: device, incarnation: incarnation), counter: counter)
    }

    @Test func `what is covered is what was said, in each history apart`() {
        let fields = AcceptedEvents.fields(covering: [dot(7, 3), dot(9, 5), dot(7, 8), dot(.max, 0)])
        #expect(fields.map(\.key) == ["7:3-9", "9:5-6", "ffffffffffffffff:0-1"])
        let accepted = AcceptedEvents(of: device, fields)
        for (incarnation, counter) in [(7, 3), (7, 8), (9, 5), (.max, 0)] as [(UInt64, UInt64)] {
            #expect(accepted.covers(dot(incarnation, counter)))
        }
        for (incarnation, counter) in [(7, 2), (7, 9), (9, 4), (9, 6), (8, 5)] as [(UInt64, UInt64)] {
            #expect(!accepted.covers(dot(incarnation, counter)))
        }
        #expect(!accepted.covers(Dot(replica: ReplicaID(device: other, incarnation: 7), counter: 3)))
    }

    @Test func `fields that no node writes say nothing`() {
        let names = [
            "", ":", "7", "7:", "7:3", "7:3-", "7:-9", "7:9-3", "7:3-3", "7:3-9-12", "g:3-9", "-7:3-9", "7:3-9:1",
            "7:3-99999999999999999999", "77777777777777777:3-9", "7: 3-9",
        ]
        var fields = names.map { JSONValue.Member(key: ExactString($0), value: .bool(true)) }
        fields.append(JSONValue.Member(key: "7:3-9", value: .bool(false)))
        fields.append(JSONValue.Member(key: "8:3-9", value: .integer(1)))
        let accepted = AcceptedEvents(of: device, fields)
        for counter in 0..<20 as Range<UInt64> {
            #expect(!accepted.covers(dot(7, counter)) && !accepted.covers(dot(8, counter)))
        }
    }

    @Test func `the longest name of a stream fits`() {
        let stream = ExactString(String(repeating: "s", count: Limits.nameBytes))
        #expect(AcceptedEvents.key(of: device, stream: stream).isValid)
        #expect(AcceptedEvents.key(of: device, stream: stream).isKeptByAgents)
    }
}
