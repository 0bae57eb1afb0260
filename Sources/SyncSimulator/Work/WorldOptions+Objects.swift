import SyncCore
package import SyncModel

extension WorldOptions {
    /// The amount and the kinds of writes to objects.
    package struct Objects: Sendable, Equatable {
        /// The percentage of writes that go to objects; 0 in some seeds, for faults that only show without them.
        package var sharePercent: Int
        /// Ids in each collection.
        package var ids: Int
        package var deletePercent: Int
        package var schemaPercent: Int
        /// The percentage of writes to an existing object that attach or detach.
        package var attachPercent: Int
        /// The deletion policies of schemas. Not empty.
        package var policies: [DeletePolicy]

        init(using random: inout SplitMix64) {
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
            sharePercent = chance(15) ? 0 : chance(30) ? 100 : 60
            ids = Int.random(in: 1...3, using: &random)
            deletePercent = chance(15) ? 0 : Int.random(in: 5...30, using: &random)
            schemaPercent = chance(15) ? 0 : Int.random(in: 2...15, using: &random)
            attachPercent = chance(25) ? 0 : Int.random(in: 5...40, using: &random)
            policies = chance(30) ? DeletePolicy.allCases : DeletePolicy.allCases.filter { _ in chance(50) }
            if policies.isEmpty { policies = [.deleteWins] }
        }
    }
}
