import SyncModel
import SyncStore
import Testing

@Suite("Last events")
struct LastEventTests {
    @Test(arguments: StoreKind.allCases)
    func `the last events of a stream are found from its end`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for number in 0..<60 {
            let type: ExactString? = number % 10 == 0 ? "tenth" : nil
            let event = SyncModel.Operation.Event(
                stream: number % 3 == 0 ? "other" : "s", type: type?.string, payload: Array("\(number)".utf8))
            _ = try store.append([[.appendEvent(event)]], wallMilliseconds: 1)
        }
        let all = try store.allEvents("s")
        func last(_ count: Int, before: Int64? = nil, type: String? = nil) throws -> ArraySlice<StoredEvent> {
            let place = try store.start(
                of: LastEvents(stream: "s", count: count, before: before, type: type), space: .home)
            return all.filter { event in
                event.position > place.after && (type.map { event.type == $0 } ?? true)
            }
            .prefix(place.count)
        }
        #expect(try Array(last(7)) == Array(all.suffix(7)))
        #expect(try Array(last(1_000)) == all)
        #expect(try Array(last(5, before: all[20].position)) == Array(all[15..<20]))
        #expect(try Array(last(50, before: all[20].position)) == Array(all[..<20]))
        #expect(try last(5, before: all[0].position).isEmpty)
        let tenths = all.filter { $0.type == "tenth" }
        #expect(try Array(last(2, type: "tenth")) == Array(tenths.suffix(2)))
        #expect(try store.start(of: LastEvents(stream: "none", count: 3), space: .home).count == 0)
        store.close()
    }
}
