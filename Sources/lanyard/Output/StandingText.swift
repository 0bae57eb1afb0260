import ControlAPI

/// The progress of the other devices towards this one's state, for people.
struct StandingText {
    let standings: [DeviceStanding]
    var now = Timestamp.now

    /// Devices named one by one; the others are counted.
    private static let named = 3

    /// Returns the sentence on a space. Where the device was revoked, it has no role, and no standings.
    static func sentence(of space: StatusResponse.Space) -> String {
        if space.standings.isEmpty, !space.inStep, space.role == nil {
            return "This device was revoked: it gets and sends nothing."
        }
        return Self(standings: space.standings).sentence(isInStep: space.inStep)
    }

    /// Returns a sentence such as "In step with 2 of 3 devices; phone away since Monday, 12 changes unsent."
    ///
    /// - Parameter isInStep: nothing is missing on this device either.
    func sentence(isInStep: Bool) -> String {
        guard !standings.isEmpty else { return "No other device is paired with this one." }
        let level = standings.count { $0.state == .inStep }
        if level == standings.count, !isInStep {
            return (["Something is missing here"] + notes).joined(separator: "; ") + "."
        }
        return ([head(level)] + notes).joined(separator: "; ") + "."
    }

    /// The reasons why devices are not in step, those that are away first.
    var reasons: [String] { some(standings.filter { $0.state != .inStep }) }

    private var notes: [String] { some(standings.filter { $0.state != .inStep || !$0.connected }) }

    private func head(_ level: Int) -> String {
        switch (level, standings.count) {
        case (1, 1): "In step with \(shown(standings[0].name))"
        case (0, _): "Not in step with any device"
        case (let level, let count) where level == count: "In step with all \(count) devices"
        case (let level, let count): "In step with \(level) of \(count) devices"
        }
    }

    private func some(_ standings: [DeviceStanding]) -> [String] {
        let sorted = standings.sorted { rank($0) < rank($1) }
        let phrases = sorted.prefix(Self.named).map(phrase)
        let others = sorted.count - phrases.count
        return others > 0 ? phrases + ["and \(Amounts.count(others, "more device"))"] : phrases
    }

    /// Devices that lack something come first, among them those that are away.
    private func rank(_ device: DeviceStanding) -> (Int, Int, String) {
        (device.state == .inStep ? 1 : 0, device.connected ? 1 : 0, device.name)
    }

    private func phrase(_ device: DeviceStanding) -> String {
        let name = shown(device.name)
        let changes = Amounts.count(device.unsent ?? 0, "change")
        if device.connected {
            return device.state == .unknown
                ? "\(name) has not said yet what it holds" : "\(changes) not yet sent to \(name)"
        }
        let away =
            device.lastSeen == nil
            ? "\(name) was never met"
            : "\(name) away" + (device.awaySince.map { " " + TimeText.local(now: now).since($0) } ?? "")
        switch device.state {
        case .inStep: return away
        case .behind: return "\(away), \(changes) unsent"
        case .unknown: return "\(away), what it holds is not known"
        }
    }
}
