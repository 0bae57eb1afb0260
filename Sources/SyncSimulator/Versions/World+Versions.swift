import SyncCore
import SyncModel

// Upgrades, node by node, and nodes that go back.
extension World {
    mutating func planVersions(until end: Int64) {
        guard let versions = options.versions else { return }
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &versionRandom) < percent }
        for node in nodes.indices {
            let isEarlier = chance(versions.earlierPercent)
            nodes[node].version = isEarlier ? versions.earlier : versions.later
            guard isEarlier, chance(versions.upgradePercent) else { continue }
            let at = Int64.random(in: end / 4..<end, using: &versionRandom)
            queue.plan(.changeVersion(node: node, versions.later), at: at)
        }
        for _ in 0..<versions.downgrades {
            let node = Int.random(in: nodes.indices, using: &versionRandom)
            let at = Int64.random(in: 0..<end, using: &versionRandom)
            let back = Int64.random(in: at..<end, using: &versionRandom)
            queue.plan(.changeVersion(node: node, versions.earlier), at: at)
            queue.plan(.changeVersion(node: node, versions.later), at: back)
        }
    }

    /// A person installs another version, which ends the agent and starts it again.
    mutating func changeVersion(_ node: Int, _ version: SimulatedVersion) {
        guard nodes[node].version != version else { return }
        nodes[node].version = version
        trace.record(now, node, "is given the \(version.isLater ? "later" : "earlier") version")
        crash(node, losingPower: false, restores: false)
    }

    /// The features of a session, by the versions of its ends when it began; nil if one requires what the other lacks.
    func agreement(on link: SimulatedLink) -> UInt64? {
        let features = link.dialer.version.agreement(with: link.acceptor.version)
        return options.states == nil ? features.map { $0 & ~SessionProtocol.state } : features
    }

    mutating func checkAgreement(_ node: Int, _ frame: Frame, on number: Int) {
        let agreed = agreement(on: links[number])
        check { $0.sending(node: node, frame, agreed: agreed) }
    }
}
