import SyncModel
import Testing

@Suite struct ChangeAuthorTests {
    @Test(arguments: 0..<10) func `segments keep their laws over a random history of two authors`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let devices = [try TestDevice(1), try TestDevice(2), try TestDevice(3)]
        var authors = devices.map { $0.author() }
        var held = devices.map { _ in VersionVector() }
        var tips = devices.map { $0.author().tip }
        var greatest = Stamp.zero
        for _ in 0..<60 {
            let index = Int(random.next() % 3)
            // Learn from another device what it held at some moment.
            if random.chance(60) { held[index].join(held[Int(random.next() % 3)]) }
            let groups = (0..<Int.random(in: 1..<6, using: &random)).map { _ in
                (0..<Int.random(in: 1..<4, using: &random)).map { _ in random.operation() }
            }
            let segments = try devices[index].segments(
                groups, with: &authors[index], held: held[index], greatest: greatest)
            #expect(segments.reduce(0) { $0 + $1.changeCount } == groups.count)
            for segment in segments {
                let verified = try segment.segment.verified(
                    from: tips[index], space: .home, signingKey: devices[index].signingKey)
                #expect(verified == segment)
                #expect(verified.isReachable(from: greatest))
                tips[index] = verified.tip
                greatest = max(greatest, verified.tip.stamp)
            }
            held[index].advance(devices[index].replica(), to: tips[index].next)
        }
    }

    @Test(arguments: 0..<10) func `the contexts of a replica add up to the vector its author held`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let device = try TestDevice(1)
        var author = device.author()
        var held = VersionVector()
        var read = VersionVector()
        for number in 0..<50 {
            held.join(random.vector())
            for segment in try device.segments([[.event(number)], [.event(-number)]], with: &author, held: held) {
                let named = VersionVector(segment.context)
                // Only what moved is named again.
                #expect(named.entries.allSatisfy { $0.next > read.next(of: $0.replica) })
                read.join(named)
            }
            #expect(read == held)
            #expect(author.named == held)
        }
    }

    @Test func `only the first change of a segment names other replicas, and nobody names itself`() throws {
        let device = try TestDevice(1)
        let other = VersionVector.Entry(replica: try TestDevice(2).replica(), next: 4)
        let itself = VersionVector.Entry(replica: device.replica(), next: 9)
        var author = device.author()
        let segments = try device.segments(
            [[.event(1)], [.event(2)]], with: &author, held: VersionVector([other, itself]))
        #expect(segments.map(\.context) == [[other]])

        func forged(_ contexts: [[VersionVector.Entry]]) -> Segment {
            let bytes = contexts.enumerated().flatMap { index, context in
                Change(
                    start: UInt64(index), stamp: Stamp(rawValue: UInt64(index) + 1), wallMilliseconds: 0,
                    context: context, operations: [.event(index)]
                ).encoded
            }
            return Segment(
                replica: device.replica(), start: 0, end: UInt64(contexts.count), bytes: bytes, signature: [])
        }
        let empty = device.author().tip
        _ = try forged([[other], []]).walked(from: empty)
        #expect(throws: SegmentError.misplacedContext) { try forged([[], [other]]).walked(from: empty) }
        #expect(throws: SegmentError.misplacedContext) { try forged([[itself], []]).walked(from: empty) }
    }

    @Test func `a segment stays within its size unless it is one change`() throws {
        let device = try TestDevice(1)
        var author = device.author()
        func event(_ count: Int) -> [Operation] {
            let payload = [UInt8](repeating: UInt8(ascii: "1"), count: count)
            return [.appendEvent(Operation.Event(stream: "log", type: nil, payload: payload))]
        }
        let sizes = [100_000, 100_000, 100_000, Limits.payloadBytes, 10, 10, 300_000]
        let segments = try device.segments(sizes.map(event), with: &author)
        #expect(segments.map(\.changeCount) == [2, 1, 1, 2, 1])
        #expect(segments.allSatisfy { $0.segment.bytes.count <= Limits.segmentBytes || $0.changeCount == 1 })

        let tooLong = Segment(
            replica: device.replica(), start: 0, end: 3,
            bytes: segments[0].segment.bytes + segments[1].segment.bytes, signature: [])
        #expect(throws: SegmentError.codec(.outOfRange(field: "segment.data"))) {
            try tooLong.walked(from: device.author().tip)
        }
    }

    @Test func `the suffix of a segment verifies from the tip it begins at`() throws {
        let device = try TestDevice(1)
        var author = device.author()
        let groups: [[Operation]] = (0..<6).map { [.event($0), .event($0), .event($0)] }
        let segment = try device.segments(groups, with: &author)[0].segment
        for counter in UInt64(0)..<18 {
            guard counter % 3 == 0 else {
                #expect(segment.suffix(from: counter) == nil)
                continue
            }
            var prefix = device.author()
            _ = try device.segments(Array(groups.prefix(Int(counter) / 3)), with: &prefix)
            let suffix = try #require(segment.suffix(from: counter))
            let verified = try suffix.verified(from: prefix.tip, space: .home, signingKey: device.signingKey)
            #expect(verified.tip == author.tip)
        }
        #expect(segment.suffix(from: 18) == nil)
    }

    @Test func `a group that cannot be written leaves the author as it was`() throws {
        let device = try TestDevice(1)
        var author = device.author()
        let before = author.tip
        let result = author.author(
            [[.event(1)], [.event(2)]], held: VersionVector(), greatestStamp: Stamp(rawValue: .max - 1),
            wallMilliseconds: 0, sign: device.sign)
        #expect(result == nil)
        #expect(author.tip == before)
    }

    @Test func `an author that met more replicas than a context names goes on naming them`() throws {
        let device = try TestDevice(1)
        let stranger = try TestDevice(2).id
        let held = VersionVector(
            (0..<UInt64(Limits.contextEntries) + 5).map {
                VersionVector.Entry(replica: ReplicaID(device: stranger, incarnation: $0), next: 1)
            })
        var author = device.author()
        let segments = try device.segments((0..<3).map { [.event($0)] }, with: &author, held: held)
        #expect(segments.map(\.context.count) == [Limits.contextEntries, 5])
        #expect(segments.map(\.changeCount) == [1, 2])
        #expect(author.named == held)
    }

    @Test func `what is too large for a change is told before it is written`() throws {
        #expect(ChangeAuthor.canAuthor([.event(1)]))
        #expect(!ChangeAuthor.canAuthor([]))
        #expect(!ChangeAuthor.canAuthor([.unknown(kind: 9, span: 0, body: [])]))
        #expect(!ChangeAuthor.canAuthor([.unknown(kind: 9, span: Limits.operationsPerChange, body: []), .event(1)]))
        let half = Operation.unknown(kind: 9, span: 1, body: [UInt8](repeating: 0, count: Limits.operationsBytes / 2))
        #expect(!ChangeAuthor.canAuthor([half, half]))
        let largest = Operation.unknown(
            kind: 9, span: 1, body: [UInt8](repeating: 0, count: Limits.operationsBytes - 8))
        #expect(ChangeAuthor.canAuthor([largest]))
        let device = try TestDevice(1)
        var author = device.author()
        _ = try device.segments([[largest]], with: &author, wall: .min)
        _ = try device.segments([[largest]], with: &author, wall: .max)
    }
}
