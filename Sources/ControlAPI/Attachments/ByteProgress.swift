/// The progress of a long operation, in bytes.
public struct ByteProgress: Codable, Hashable, Sendable {
    /// The bytes that are done.
    public var doneBytes: UInt64
    /// The bytes in all.
    public var totalBytes: UInt64
    /// The rate over the last seconds; 0 while nothing moves.
    public var bytesPerSecond: UInt64

    /// All fields.
    public init(doneBytes: UInt64, totalBytes: UInt64, bytesPerSecond: UInt64) {
        self.doneBytes = doneBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
    }

    /// The time until all is done at this rate, in seconds; nil while nothing moves.
    public var secondsLeft: UInt64? {
        guard bytesPerSecond > 0, totalBytes >= doneBytes else { return nil }
        return (totalBytes - doneBytes + bytesPerSecond - 1) / bytesPerSecond
    }
}

/// A line of an answer that takes a while: how far it is, and at last what came of it.
///
/// As JSON an object with one key: `{"progress":{…}}` or `{"result":…}`.
public enum ProgressLine<Result: Codable & Sendable>: Sendable {
    /// A report on the way; more lines follow.
    case progress(ByteProgress)
    /// The last line.
    case result(Result)
}

extension ProgressLine: Equatable where Result: Equatable {}

extension ProgressLine: Codable {
    private enum Key: String, CodingKey {
        case progress
        case result
    }

    /// Reads either.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if container.contains(.progress) {
            self = .progress(try container.decode(ByteProgress.self, forKey: .progress))
        } else {
            self = .result(try container.decode(Result.self, forKey: .result))
        }
    }

    /// Writes the one key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .progress(let progress): try container.encode(progress, forKey: .progress)
        case .result(let result): try container.encode(result, forKey: .result)
        }
    }
}
