import ControlAPI
import Glibc

/// Numbers as people read them.
enum Amounts {
    static func bytes(_ count: Int64) -> String { ByteAmount.text(UInt64(clamping: count)) }

    static func seconds(_ count: Int) -> String {
        switch count {
        case ..<60: "\(count) s"
        case ..<3_600: "\(count / 60) min"
        case ..<86_400: "\(count / 3_600) h \(count / 60 % 60) min"
        case _: "\(count / 86_400) d \(count / 3_600 % 24) h"
        }
    }

    /// How long ago, to be read beside a name.
    static func ago(_ time: Timestamp?, now: Timestamp = .now) -> String {
        guard let time else { return "-" }
        let elapsed = (now.millisecondsSinceEpoch - time.millisecondsSinceEpoch) / 1_000
        return elapsed < 2 ? "now" : "\(seconds(Int(elapsed))) ago"
    }

    /// How soon, in whole seconds that are not too few.
    static func until(_ time: Timestamp, now: Timestamp = .now) -> String {
        let rest = time.millisecondsSinceEpoch - now.millisecondsSinceEpoch
        return rest <= 0 ? "now" : "within \(seconds(Int((rest + 999) / 1_000)))"
    }

    static func milliseconds(_ value: Double?) -> String { value.map { "\(ByteAmount.decimal($0)) ms" } ?? "-" }

    /// The first few of many names.
    static func some(_ names: [String]) -> String {
        let first = names.prefix(3).map { shown($0) }.joined(separator: ", ")
        return names.count > 3 ? "\(first) and \(names.count - 3) more" : first
    }

    static func count(_ number: Int, _ word: String) -> String { number == 1 ? "1 \(word)" : "\(number) \(word)s" }
}

extension Timestamp {
    /// The wall clock of this machine.
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(millisecondsSinceEpoch: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
