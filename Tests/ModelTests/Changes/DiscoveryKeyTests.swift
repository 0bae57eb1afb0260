import ReplicatedTypes
import SyncModel
import Testing

/// The keys of daily tags: no device that is out may know the one that members announce with.
@Suite struct DiscoveryKeyTests {
    private typealias Exclusions = DiscoveryKey.Exclusions

    private static func device(_ number: UInt8) -> DeviceID {
        DeviceID(bytes: [UInt8](repeating: number, count: DeviceID.byteCount))!
    }

    private static func bytes(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: DiscoveryKey.byteCount) }

    private static func dot(_ author: UInt8, _ counter: UInt64) -> Dot {
        Dot(replica: ReplicaID(device: device(author), incarnation: 1), counter: counter)
    }

    private static let out = Exclusions([device(2): [dot(1, 7)]])

    @Test func `it is read back from the fields of an object, and nothing else is`() {
        var key = DiscoveryKey(bytes: Self.bytes(0), exclusions: Self.out)
        #expect(DiscoveryKey(key.fields) == key && key.earlier.isEmpty)
        for number in 1...100 {
            key = DiscoveryKey(bytes: Self.bytes(UInt8(number)), exclusions: Self.out, after: key)
            #expect(DiscoveryKey(key.fields) == key)
        }
        // Bounded, the newest first.
        #expect(key.earlier == (36...99).reversed().map { Self.bytes($0) })
        func read(_ name: String, _ text: String) -> DiscoveryKey? {
            DiscoveryKey(key.fields.map { $0.key == ExactString(name) ? .init(key: $0.key, value: .text(text)) : $0 })
        }
        let text = Self.bytes(9).hexadecimal
        #expect(read("key", text)?.bytes == Self.bytes(9))
        #expect(
            read("key", String(text.dropLast(2))) == nil && read("key", "") == nil && read("key", text + "00") == nil)
        #expect(read("exclusions", "") == nil && read("exclusions", text + "00") == nil)
        #expect(read("earlier", "\(text) none \(text)")?.earlier == [Self.bytes(9), Self.bytes(9)])
        #expect(read("earlier", String(repeating: text + " ", count: 65)) == nil)
        #expect(DiscoveryKey([]) == nil && DiscoveryKey(Array(key.fields.prefix(2))) == nil)
        #expect(DiscoveryKey.objectKey(of: Self.device(1)).isKeptByAgents)
    }

    @Test func `every statement on a device that is out makes other exclusions, in whatever order they came`() {
        let (first, second) = (Self.dot(1, 7), Self.dot(3, 7))
        #expect(Exclusions([Self.device(2): [first, second]]) == Exclusions([Self.device(2): [second, first]]))
        let all = [
            Self.out, Exclusions([Self.device(4): [first]]), Exclusions([Self.device(2): [second]]),
            Exclusions([Self.device(2): [first, second]]), Exclusions([Self.device(2): [first], Self.device(4): []]),
            Exclusions([Self.device(2): [], Self.device(4): [first]]),
        ]
        #expect(Set(all).count == all.count)
    }

    @Test func `the least of the members' keys is announced, and after a revocation one that its device does not know`()
    {
        let own = [Self.bytes(5), Self.bytes(3)]
        let before = DiscoveryKeys(own: own, made: [], exclusions: nil)
        #expect(before.announced == Self.bytes(3) && before.recognised == Set(own) && !before.isStale)
        let told = DiscoveryKeys(own: own, made: [], exclusions: Self.out)
        #expect(told.announced == Self.bytes(3) && told.isStale)
        let former = DiscoveryKey(bytes: Self.bytes(9), exclusions: Exclusions([Self.device(4): []]))
        let made = [
            DiscoveryKey(bytes: Self.bytes(8), exclusions: Self.out, after: former),
            DiscoveryKey(bytes: Self.bytes(7), exclusions: Self.out),
            DiscoveryKey(bytes: Self.bytes(1), exclusions: Exclusions([Self.device(2): [Self.dot(1, 6)]])),
        ]
        let after = DiscoveryKeys(own: own, made: made, exclusions: Self.out)
        #expect(after.announced == Self.bytes(7) && !after.isStale)
        #expect(after.recognised == Set(own + [8, 9, 7, 1].map { Self.bytes($0) }))
        // Let in by one that might not, it may have learned them all; until there is another, no older one comes back.
        let next = Exclusions([Self.device(2): [Self.dot(1, 7), Self.dot(3, 1)]])
        let between = DiscoveryKeys(own: own, made: Array(made.prefix(2)), exclusions: next)
        #expect(between.isStale && between.announced == Self.bytes(7))
        let kept = DiscoveryKeys(own: own, made: made, before: Self.bytes(8), exclusions: next)
        #expect(kept.isStale && kept.announced == Self.bytes(8))
        #expect(DiscoveryKeys(own: own, made: made, exclusions: nil).announced == Self.bytes(3))
    }

    /// The bytes that PROTOCOL.md describes.
    @Test func `exclusions are the hash of a line for each device`() {
        let exclusions = Exclusions([Self.device(4): [], Self.device(2): [Self.dot(3, 9), Self.dot(1, 7)]])
        let key = DiscoveryKey(bytes: Self.bytes(9), exclusions: exclusions)
        let field = key.fields.first { $0.key == ExactString("exclusions") }
        #expect(field?.value == .text("048a17b05d0d2193ce75e9286f7bf4b392adaad33ac4bdeaa7aa27b1cfbf88a2"))
    }

    @Test func `keys of devices that are no admins, or out, are only recognised`() {
        let key = DiscoveryKey(bytes: Self.bytes(1), exclusions: Self.out)
        let keys = DiscoveryKeys(own: [Self.bytes(5)], made: [], former: [key], exclusions: Self.out)
        #expect(keys.isStale && keys.announced == Self.bytes(5) && keys.recognised.contains(Self.bytes(1)))
    }

    /// Random histories of three admins: devices are revoked and admitted again, also by one whose word does not count, and while
    /// a device that is out may know every key, an admin makes another.
    ///
    /// - Returns: how often a device that was out knew the key that was announced.
    private func leaks(forgetsTag: Bool) -> Int {
        var random = SystemRandomNumberGenerator()
        func fresh() -> [UInt8] { (0..<DiscoveryKey.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) } }
        var leaks = 0
        for _ in 0..<200 {
            let own = (0..<6).map { _ in fresh() }
            var made: [UInt8: DiscoveryKey] = [:]
            var (said, out): ([DeviceID: [Dot]], Set<DeviceID>) = ([:], [])
            var learned: [DeviceID: Set<[UInt8]>] = [:]
            for moment in 0..<20 {
                let device = Self.device(UInt8.random(in: 4...8, using: &random))
                let author = UInt8.random(in: 1...3, using: &random)
                said[device, default: []].append(Self.dot(author, UInt64(moment)))
                if out.remove(device) == nil {
                    out.insert(device)
                } else if Bool.random(using: &random) {
                    // Met by the one that admits it, which does not count: it learns all keys, and is out afterwards.
                    learned[device, default: Set(own)].formUnion(made.values.map(\.bytes))
                    out.insert(device)
                }
                let exclusions = out.isEmpty ? nil : Exclusions(said.filter { out.contains($0.key) })
                func keys() -> DiscoveryKeys {
                    DiscoveryKeys(
                        own: own, made: Array(made.values), exclusions: exclusions, forgetsTag: forgetsTag)
                }
                if keys().isStale, let exclusions {
                    made[author] = DiscoveryKey(bytes: fresh(), exclusions: exclusions, after: made[author])
                }
                for device in (4...8).map({ Self.device($0) }) {
                    if !out.contains(device) {
                        learned[device, default: Set(own)].formUnion(made.values.map(\.bytes))
                    } else if let announced = keys().announced, learned[device, default: Set(own)].contains(announced) {
                        leaks += 1
                    }
                }
            }
        }
        return leaks
    }

    @Test func `no device that is out knows the key that is announced`() { #expect(leaks(forgetsTag: false) == 0) }

    @Test func `the same check finds the planted bug of a tag that stays`() { #expect(leaks(forgetsTag: true) > 0) }
}
