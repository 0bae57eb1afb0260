import SyncCore
import SyncModel

extension WorldOptions {
    /// The time for which streams keep events, and the rates of settings and looks.
    package struct Retention: Sendable, Equatable {
        /// The percentage of event writes that set how a stream is kept.
        package var settingPercent: Int
        /// The retention of streams that keep events for some time.
        package var retainMilliseconds: UInt64
        /// The time for which superseded events stay in streams that only show the greatest per type, without a setting of
        /// their own.
        package var supersededMilliseconds: UInt64?
        package var everyMilliseconds: Int64
        /// Events that go in one step.
        package var limit: Int

        /// Nil for two thirds of the seeds, and where histories may be taken back: there a drop may be said again, and be for a
        /// while with some and not with others.
        /// - Parameter seed: of the world; drawn apart from its other options, which stay what they were.
        init?(seed: UInt64, _ copies: Copies?) {
            var random = SplitMix64(seed: seed ^ 0x7265_7461_696e_2121)
            func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
            guard pick([true, false, false]), copies == nil else { return nil }
            settingPercent = pick([15, 40])
            retainMilliseconds = pick([0, 500, 3_000, 20_000])
            supersededMilliseconds = pick([nil, 0, 5_000])
            everyMilliseconds = pick([500, 2_000, 10_000])
            limit = pick([3, 40, 4_096])
        }

        func setting<Source: RandomNumberGenerator>(
            of stream: String, using random: inout Source
        ) -> Operation.StreamSetting {
            let isKept = Int.random(in: 0..<4, using: &random) == 0
            return Operation.StreamSetting(
                stream: ExactString(stream), latestOnly: Int.random(in: 0..<3, using: &random) == 0,
                retainMilliseconds: isKept ? nil : retainMilliseconds)
        }
    }
}
