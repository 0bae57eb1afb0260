import ArgumentParser
import ControlAPI

/// An amount of bytes as people type it: `500`, `64k`, `10MiB`, `1.5GB`.
struct ByteSize: ExpressibleByArgument, Equatable {
    let bytes: UInt64

    init(bytes: UInt64) { self.bytes = bytes }

    init?(argument: String) {
        guard let bytes = ByteAmount.parse(argument) else { return nil }
        self.bytes = bytes
    }
}

/// The words behind `--fetch`: `all`, `up-to SIZE` or `on-demand`.
enum FetchWords {
    static func rule(_ words: [String]) throws(ControlError) -> FetchRule {
        switch (words.first, words.count) {
        case ("all", 1): return .all
        case ("on-demand", 1): return .onDemand
        case ("up-to", 2):
            guard let size = ByteSize(argument: words[1]) else {
                throw ControlError(
                    .invalidArgument, "\"\(words[1])\" is no size.", hint: "For example: --fetch up-to 10MiB")
            }
            return .upTo(size.bytes)
        case _:
            throw ControlError(
                .invalidArgument, "This is no policy of fetching.",
                hint: "Give --fetch all, --fetch up-to SIZE or --fetch on-demand, after the space's name.")
        }
    }

    static func text(_ rule: FetchRule) -> String {
        switch rule {
        case .all: "all"
        case .upTo(let size): "up to \(ByteAmount.text(size))"
        case .onDemand: "on demand"
        }
    }
}
