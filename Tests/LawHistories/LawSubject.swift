import ReferenceModels
import SyncModel

/// One replicated type under test, whatever its Swift type is.
package struct LawSubject: Sendable {
    package let name: String
    /// How many histories every test of it runs.
    package let histories: Int
    private let shape: Shape
    /// Runs a history and returns what all replicas end with; nil to leave that out.
    private let body: @Sendable (History, Mode) throws(Fault) -> [UInt8]

    enum Mode {
        /// Some of the states that were met are checked.
        case sampled
        /// All of them are.
        case thorough
        /// And what all end with is returned.
        case digested
    }

    package init<Value: Lawful>(_ name: String, _ travel: Travel<Value>, histories: Int = 0) {
        self.name = name
        self.histories = histories
        shape = Value.shape
        body = { history, mode throws(Fault) in
            var run = LawRun(history, travel: travel, isThorough: mode == .thorough)
            let value = try run.run()
            return mode == .digested ? Self.everythingVisible(of: value, travel) : []
        }
    }

    /// The type it is about: the first word of its name.
    package var type: String { String(name.prefix { $0 != " " }) }

    /// The history that belongs to a seed.
    package func history(seed: UInt64) -> History { History(seed: seed, of: shape) }

    /// Throws the first law that the history breaks.
    package func check(_ history: History) throws(Fault) { _ = try body(history, .thorough) }

    func fault(of history: History, _ mode: Mode) -> Fault? {
        do throws(Fault) {
            _ = try body(history, mode)
            return nil
        } catch { return error }
    }

    /// What must be the same in every process: bytes, what is read, printed and coded.
    package func everythingVisible(of history: History) throws(Fault) -> [UInt8] { try body(history, .digested) }

    private static func everythingVisible<Value: Lawful>(of value: Value, _ travel: Travel<Value>) -> [UInt8] {
        let delta = value.delta(since: VersionVector())
        return travel.bytes(value) + travel.deltaBytes(delta) + Array("\(value.reading) \(value)".utf8)
            + JSONForm.bytes(value) + JSONForm.bytes(delta)
    }
}
