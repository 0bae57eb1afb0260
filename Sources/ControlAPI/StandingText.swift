/// The answer to "Am I in step?" in one sentence, made from the standings of the other devices. Names stand in it as their
/// devices say them: a terminal or a page shows it through its own filter of characters.
package struct StandingText {
    /// The reason why a space has no standings.
    package enum Absence: Sendable {
        /// No other device is a member.
        case unpaired
        /// This device has blocked the other members.
        case blocked
        /// This device was revoked.
        case revoked
    }

    private let standings: [DeviceStanding]
    private let times: TimeText

    /// Devices named one by one; the others are counted.
    private static let named = 3

    package init(_ standings: [DeviceStanding], times: TimeText) {
        self.standings = standings
        self.times = times
    }

    /// Returns a sentence such as "In step with 2 of 3 devices; phone away since Monday, 12 changes unsent."
    ///
    /// - Parameters:
    ///   - isInStep: nothing is missing on this device either.
    ///   - absence: why there are no standings; counts only where there are none.
    package func sentence(isInStep: Bool, absence: Absence) -> String {
        guard !standings.isEmpty else {
            switch absence {
            case .unpaired: return "No other device is paired with this one."
            case .blocked: return "In step with no device: the others are blocked here."
            case .revoked: return "This device was revoked: it gets and sends nothing."
            }
        }
        let level = standings.count { $0.state == .inStep }
        if level == standings.count, !isInStep {
            return (["Something is missing here"] + notes).joined(separator: "; ") + "."
        }
        return ([head(level)] + notes).joined(separator: "; ") + "."
    }

    /// The reasons why devices are not in step, those that are away first.
    package var reasons: [String] { some(standings.filter { $0.state != .inStep }) }

    private var notes: [String] { some(standings.filter { $0.state != .inStep || !$0.connected }) }

    private func head(_ level: Int) -> String {
        switch (level, standings.count) {
        case (1, 1): "In step with \(standings[0].name)"
        case (0, _): "Not in step with any device"
        case (let level, let count) where level == count: "In step with all \(count) devices"
        case (let level, let count): "In step with \(level) of \(count) devices"
        }
    }

    private func some(_ standings: [DeviceStanding]) -> [String] {
        let sorted = standings.sorted { rank($0) < rank($1) }
        let phrases = sorted.prefix(Self.named).map(phrase)
        let others = sorted.count - phrases.count
        return others > 0 ? phrases + ["and \(count(others, "more device"))"] : phrases
    }

    /// Devices that lack something come first, among them those that are away.
    private func rank(_ device: DeviceStanding) -> (Int, Int, String) {
        (device.state == .inStep ? 1 : 0, device.connected ? 1 : 0, device.name)
    }

    private func phrase(_ device: DeviceStanding) -> String {
        let name = device.name
        let changes = count(device.unsent ?? 0, "change")
        if device.connected {
            return device.state == .unknown
                ? "\(name) has not said yet what it holds" : "\(changes) not yet sent to \(name)"
        }
        let away =
            device.lastSeen == nil
            ? "\(name) was never met" : "\(name) away" + (device.awaySince.map { " " + times.since($0) } ?? "")
        switch device.state {
        case .inStep: return away
        case .behind: return "\(away), \(changes) unsent"
        case .unknown: return "\(away), what it holds is not known"
        }
    }

    private func count(_ number: Int, _ word: String) -> String { number == 1 ? "1 \(word)" : "\(number) \(word)s" }
}
