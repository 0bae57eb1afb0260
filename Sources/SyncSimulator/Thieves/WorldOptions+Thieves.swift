import SyncCore
package import SyncModel

extension WorldOptions {
    /// Members with roles. Admins change some of them; often a member is stolen, and goes on writing.
    package struct Thieves: Sendable, Equatable {
        /// The roles that the founder admits nodes with, by node; it is an admin itself.
        package private(set) var roles: [MemberFact.Role]
        /// The nodes whose roles admins change as they like.
        package private(set) var moving: [Int] = []
        /// The node that is stolen; nil if none is. Its accomplice is one more node than the options name.
        package private(set) var thief: Int?
        /// A moving node that is revoked for good in the end; nil if none is.
        package private(set) var lost: Int?
        /// The number of times that an admin changes a role.
        package private(set) var changes: Int
        /// The number of the thief's acts.
        package private(set) var acts: Int
        /// True if the thief puts an older state of the disk back.
        package private(set) var restoresDisk: Bool
        /// True if an admin notices the theft while it goes on; otherwise that comes to light in the end.
        package private(set) var isNoticed: Bool
        /// The node on which all is put right in the end.
        package private(set) var helper = 0
        /// True if that is done with the recovery key.
        package private(set) var usesKey: Bool
        /// True if nodes forget what they may.
        package private(set) var forgets: Bool
        /// The number of times that the thief retires another device.
        package private(set) var departures = 0
        /// The number of times that the thief begins to fork its history; 0 where nodes hold state in place of changes.
        package private(set) var forks = 0
        /// True if devices are retired, too, where the world has that.
        package private(set) var retires: Bool

        /// - Parameters:
        ///   - seed: of the world; drawn apart from its other options, which stay what they were.
        ///   - nodes: the number of nodes; at least 4.
        ///   - lateJoiners: the last of them, which no thief takes.
        ///   - exchangesState: true if nodes hold state in place of changes.
        init(seed: UInt64, nodes: Int, lateJoiners: Int, exchangesState: Bool) {
            var random = SplitMix64(seed: seed ^ 0x7468_6965_7665_7321)
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
            roles = Array(repeating: .writer, count: nodes)
            roles[0] = .admin
            let early = Array(1..<nodes - lateJoiners).shuffled(using: &random)
            thief = chance(75) ? early.first : nil
            // At least one besides the founder is left alone.
            for node in early.dropFirst(2) where chance(70) { moving.append(node) }
            moving.sort()
            for _ in 0..<(chance(40) ? 2 : 1) where chance(80) {
                if let admin = early.randomElement(using: &random) { roles[admin] = .admin }
            }
            if let thief { roles[thief] = chance(60) ? .admin : .writer }
            if chance(40), let reader = moving.randomElement(using: &random) { roles[reader] = .reader }
            lost = chance(40) ? moving.randomElement(using: &random) : nil
            changes = moving.isEmpty ? 0 : Int.random(in: 1...8, using: &random)
            acts = Int.random(in: 2...12, using: &random)
            restoresDisk = chance(50)
            isNoticed = chance(70)
            usesKey = chance(50)
            forgets = thief == nil && chance(50)
            retires = thief == nil && chance(30)
            if let thief, roles[thief] == .admin { usesKey = true }
            // The key speaks on any machine, an admin on its own.
            if usesKey, let steady = early.dropFirst().first, chance(50) { helper = steady }
            departures = thief != nil && chance(30) ? Int.random(in: 1...3, using: &random) : 0
            // Checkers look up state in all that was ever written; a forger wrote two things under one counter.
            forks = thief != nil && !exchangesState && chance(25) ? Int.random(in: 1...3, using: &random) : 0
        }

        /// True if no honest admin changes the role of the node.
        func isSteady(_ node: Int) -> Bool { node != thief && node < roles.count && !moving.contains(node) }

        /// The number of the accomplice's node; nil if no node is stolen.
        var accomplice: Int? { thief == nil ? nil : roles.count }

        /// The role with which the node is admitted.
        func role(of node: Int) -> MemberFact.Role {
            node < roles.count ? roles[node] : thief.map { roles[$0] } ?? .writer
        }
    }

    /// Such a world has no disks that are not what their machines left, but for the thief's. And nodes forget
    /// nothing that a thief could have them need again.
    mutating func letThievesIn(seed: UInt64) {
        hostile = nil
        copies = nil
        retention = nil
        restorePercent = 0
        nodes = max(nodes, 4)
        let drawn = Thieves(seed: seed, nodes: nodes, lateJoiners: lateJoiners, exchangesState: states != nil)
        if !drawn.retires { retirements = 0 }
        thieves = drawn
    }
}
