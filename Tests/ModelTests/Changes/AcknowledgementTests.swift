import SyncModel
import Testing

@Suite struct AcknowledgementTests {
    private var random = SeededGenerator(seed: 77)

    private mutating func acknowledgement(stamp: UInt64, _ vector: VersionVector, of device: DeviceID)
        -> Acknowledgement
    {
        Acknowledgement(
            device: device, stamp: Stamp(rawValue: stamp), vector: vector, digest: Sum256(bytes: random.bytes(32))!,
            laterEnds: VersionVector([
                VersionVector.Entry(replica: ReplicaID(device: device, incarnation: 7), next: 12),
                VersionVector.Entry(replica: random.replica(), next: 5),
            ]))
    }

    @Test func `bytes read back, and only as they were written`() throws {
        var copy = self
        let device = copy.random.replica().device
        for _ in 0..<200 {
            let one = copy.acknowledgement(stamp: copy.random.next(), copy.random.vector(), of: device)
            #expect(one.laterEnds.entries.allSatisfy { $0.replica.device == device })
            let signed = SignedAcknowledgement(one, signature: copy.random.bytes(64))
            #expect(try SignedAcknowledgement(encoded: signed.encoded) == signed)
            for length in [0, 1, 40, signed.encoded.count - 1] {
                #expect(throws: CodecError.self) {
                    try SignedAcknowledgement(encoded: Array(signed.encoded.prefix(length)))
                }
            }
            #expect(throws: CodecError.trailingBytes) { try SignedAcknowledgement(encoded: signed.encoded + [0]) }
        }
    }

    @Test func `flipped bytes never trap, and never read back as the same`() {
        var copy = self
        let one = copy.acknowledgement(stamp: 5, copy.random.vector(), of: copy.random.replica().device)
        let signed = SignedAcknowledgement(one, signature: copy.random.bytes(64))
        let row = AcknowledgementRow(signed, since: signed).encoded
        for bytes in [signed.encoded, row] {
            for index in bytes.indices {
                var broken = bytes
                broken[index] ^= UInt8(truncatingIfNeeded: copy.random.next()) | 1
                if let read = try? SignedAcknowledgement(encoded: broken) { #expect(read != signed) }
                if let read = try? AcknowledgementRow(encoded: broken) { _ = read.joined(to: signed) }
            }
        }
    }

    @Test func `a row that says what moved gives the whole back, also where something is gone`() throws {
        var copy = self
        let device = copy.random.replica().device
        for _ in 0..<200 {
            let old = copy.random.vector()
            var entries = old.entries.filter { _ in copy.random.next() % 4 > 0 }
            entries += copy.random.vector().entries
            let first = SignedAcknowledgement(
                copy.acknowledgement(stamp: 1, old, of: device), signature: copy.random.bytes(64))
            let second = SignedAcknowledgement(
                copy.acknowledgement(stamp: 2, VersionVector(entries), of: device), signature: copy.random.bytes(64))
            let row = try AcknowledgementRow(encoded: AcknowledgementRow(second, since: first).encoded)
            #expect(row.joined(to: first) == second)
            #expect(row.joined(to: second) == nil && row.joined(to: nil) == nil)
            #expect(try AcknowledgementRow(encoded: AcknowledgementRow(second).encoded).joined(to: nil) == second)
        }
    }

    @Test func `what moved in a space of a thousand replicas is a few hundred bytes`() {
        var copy = self
        let device = copy.random.replica().device
        var vector = VersionVector(
            (UInt64(0)..<1_000).map { number in
                VersionVector.Entry(replica: ReplicaID(device: device, incarnation: number), next: 20)
            })
        let first = SignedAcknowledgement(
            copy.acknowledgement(stamp: 1, vector, of: device), signature: copy.random.bytes(64))
        vector.advance(vector.entries[500].replica, to: 21)
        let second = SignedAcknowledgement(
            copy.acknowledgement(stamp: 2, vector, of: device), signature: copy.random.bytes(64))
        #expect(AcknowledgementRow(second, since: first).encoded.count < 300)
        #expect(second.encoded.count > 40_000)
    }

    @Test func `only its author can sign it, for this space`() throws {
        let (author, other) = (try TestDevice(1), try TestDevice(2))
        let one = Acknowledgement(device: author.id, stamp: .zero, vector: VersionVector(), digest: .zero)
        let signed = SignedAcknowledgement(one, space: .home, sign: author.sign)
        #expect(signed.isValid(in: .home, signingKey: author.signingKey))
        #expect(!signed.isValid(in: .home, signingKey: other.signingKey))
        let elsewhere = SpaceID(bytes: [UInt8](repeating: 1, count: 16))!
        #expect(!signed.isValid(in: elsewhere, signingKey: author.signingKey))
        #expect(!signed.isValid(in: .home, signingKey: [1, 2, 3]))
        let later = Acknowledgement(
            device: author.id, stamp: Stamp(rawValue: 1), vector: VersionVector(), digest: .zero)
        #expect(
            !SignedAcknowledgement(later, signature: signed.signature).isValid(in: .home, signingKey: author.signingKey)
        )
    }

    @Test func `of two by one device exactly one is newer, whatever the stamps`() {
        var copy = self
        let device = copy.random.replica().device
        for stamp in [UInt64(1), 2] {
            let one = copy.acknowledgement(stamp: 1, copy.random.vector(), of: device)
            let two = copy.acknowledgement(stamp: stamp, copy.random.vector(), of: device)
            #expect(one.isNewer(than: two) != two.isNewer(than: one))
            #expect(!one.isNewer(than: one))
        }
    }

    @Test func `the meet of two vectors is the greatest that both cover`() {
        var copy = self
        for _ in 0..<200 {
            let shared = copy.random.vector().entries
            var (one, two) = (VersionVector(shared + copy.random.vector().entries), VersionVector(shared))
            for entry in shared where copy.random.next() % 2 == 0 { two.advance(entry.replica, to: entry.next + 1) }
            for entry in shared where copy.random.next() % 2 == 0 { one.advance(entry.replica, to: entry.next + 2) }
            let meet = one.meet(two)
            #expect(one.covers(meet) && two.covers(meet) && meet == two.meet(one))
            for entry in one.entries {
                #expect(meet.next(of: entry.replica) == min(entry.next, two.next(of: entry.replica)))
            }
        }
    }
}
