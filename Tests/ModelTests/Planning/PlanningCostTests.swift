import SyncModel
import Testing

/// Planning a write of n values takes n log n steps at most: other writes wait for it.
@Suite(.serialized) struct PlanningCostTests {
    /// The shortest of some runs: what else the machine does makes runs longer, never shorter.
    private func shortest(_ body: () throws -> Void) rethrows -> Duration {
        let clock = ContinuousClock()
        var best = try clock.measure(body)
        for _ in 0..<2 { best = min(best, try clock.measure(body)) }
        return best
    }

    private func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    private static let writes: [(name: String, make: @Sendable (Int) -> JSONValue)] = [
        ("a list", { count in .array((0..<count).map { .integer(Int64($0)) }) }),
        (
            "a dictionary",
            { count in
                .object((0..<count).map { .init(key: ExactString(String(100_000 + $0)), value: .integer(1)) })
            }
        ),
    ]

    @Test(arguments: writes.indices)
    func `four times as many elements take no more than seven times as long`(index: Int) throws {
        let (name, make) = Self.writes[index]
        func time(_ count: Int) throws -> Double {
            let desk = Desk(0)
            let put = ObjectWrite.put(Desk.key, .init(fields: [.init(key: "f", value: make(count))]))
            return seconds(try shortest { _ = try desk.plan(put) })
        }
        let (quarter, whole) = (try time(40_000), try time(160_000))
        #expect(whole / quarter < 7, "\(name): \(quarter) s, then \(whole) s")
    }
}
