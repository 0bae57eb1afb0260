import Glibc
import SyncModel
import SyncStore
import Testing

@Suite("Blobs: lazy removal")
struct BlobSweepTests {
    private static let large = BlobBytes.some(300_000, seed: 1)
    private static let small = BlobBytes.some(300, seed: 2)

    @Test func `what nobody names goes after the grace period, and not before`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let hashes = try blobs.add([Self.large, Self.small])
        bed.clock.advance(hours: 23)
        #expect(try blobs.sweep() == BlobSweep())
        bed.clock.advance(hours: 1)
        let sweep = try blobs.sweep()
        #expect(sweep.blobCount == 2 && sweep.freedBytes == 300_300)
        #expect(try hashes.map { try blobs.status(of: $0) } == [.missing, .missing])
        #expect(try bed.files.names() == [])
        #expect(try blobs.usage() == BlobUsage())
        #expect(try blobs.sweep() == BlobSweep())
    }

    @Test func `grace begins when the last record goes, or when the blob came, whichever is later`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let hashes = try blobs.add([Self.large, Self.small])
        bed.clock.advance(hours: 30)
        bed.names.set(hashes[0], .unneeded(since: bed.clock.now - 3_600_000))
        bed.names.set(hashes[1], .needed)
        #expect(try blobs.sweep().blobCount == 0)
        bed.clock.advance(hours: 23)
        #expect(try blobs.sweep().blobCount == 1)
        #expect(try blobs.status(of: hashes[0]) == .missing)
        // Added again: the record that will name it is not written yet.
        bed.names.set(hashes[1], .unneeded(since: 0))
        #expect(try blobs.add(Self.small) == hashes[1])
        bed.names.set(hashes[0], .unneeded(since: 0))
        #expect(try blobs.add(Self.large) == hashes[0])
        #expect(try blobs.add(Self.large) == hashes[0])
        #expect(try blobs.sweep().blobCount == 0)
        bed.clock.advance(hours: 24)
        #expect(try blobs.sweep().blobCount == 2)
    }

    @Test func `a clock that was put back keeps more, not less`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        _ = try blobs.add(Self.small)
        bed.clock.advance(hours: -1_000)
        #expect(try blobs.sweep().blobCount == 0)
    }

    @Test func `what a record names is never removed`() throws { #expect(try sweptReferenced([]) == 0) }

    @Test func `the same check finds the planted bug of not asking`() throws {
        #expect(try sweptReferenced(.sweepReferenced) == 3)
    }

    private func sweptReferenced(_ faults: BlobFaults) throws -> Int {
        let bed = BlobBed()
        let blobs = try bed.open(faults)
        let hashes = try blobs.add([Self.large, Self.small, BlobBytes.some(70_000, seed: 3)])
        for hash in hashes { bed.names.set(hash, .needed) }
        bed.clock.advance(hours: 1_000)
        _ = try blobs.sweep()
        return try hashes.count { try blobs.status(of: $0) == .missing }
    }

    @Test func `a record that comes while the sweep looks keeps the blob`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let hashes = try blobs.add([Self.large, Self.small])
        bed.clock.advance(hours: 48)
        // Written just after the first look.
        bed.names.afterAnswer { [names = bed.names] hash in names.set(hash, .needed) }
        #expect(try blobs.sweep().blobCount == 0)
        #expect(try hashes.map { try blobs.status(of: $0) } == [.whole, .whole])
    }

    @Test func `what somebody is fetching stays, and goes when nobody does`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        do {
            let partial = try #require(try blobs.begin(Self.large))
            try partial.write(0, of: Self.large)
            bed.clock.advance(hours: 48)
            #expect(try blobs.sweep().blobCount == 0)
            #expect(try partial.present().presentCount == 1)
        }
        let sweep = try blobs.sweep()
        #expect(sweep.blobCount == 1 && sweep.blobBytes == UInt64(BlobLayout.chunkBytes))
        #expect(try bed.files.names() == [])
        #expect(try blobs.usage() == BlobUsage())
    }

    @Test func `more than a page of blobs goes in one sweep`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let hashes = try blobs.add((0..<600).map { BlobBytes.some(100, seed: UInt64($0) + 10) })
        bed.names.set(hashes[300], .needed)
        bed.clock.advance(hours: 24)
        #expect(try blobs.sweep().blobCount == 599)
        #expect(try blobs.usage().wholeCount == 1)
    }

    @Test func `files that no row speaks of go, what is being added and what is not ours stays`() throws {
        let bed = BlobBed()
        var blobs = try bed.open()
        let kept = try blobs.add(Self.large)
        let partial = try #require(try blobs.begin(BlobBytes.some(100_000, seed: 4))).blob
        try #require(try blobs.resumePartial(partial)).write(0, of: BlobBytes.some(100_000, seed: 4))
        let lost = try blobs.beginAdding(size: nil)
        try Self.large.withUnsafeBytes { try lost.append($0) }
        bed.kill()
        blobs = try bed.open()
        let other = BlobBytes.hash([9])
        for name in [BlobFileName.whole(other.hash), .partial(other.hash), .partial(kept.hash)] {
            let file = try bed.files.create(name)
            try Self.small.withUnsafeBytes { try file.write($0, at: 0) }
        }
        mkdir(bed.blobFolder + "/lost+found", 0o700)
        let adding = try blobs.beginAdding(size: nil)
        try Self.large.withUnsafeBytes { try adding.append($0) }
        let sweep = try blobs.sweepStrays()
        #expect(sweep.strayCount == 4 && sweep.strayBytes == 300_900)
        let hash = try adding.finish()
        #expect(hash == kept)
        #expect(Set(try bed.files.names()) == [.whole(kept.hash), .partial(partial.hash)])
        #expect(try blobs.resumePartial(partial)?.present().presentCount == 1)
        #expect(try blobs.bytes(of: kept) == Self.large)
        #expect(try blobs.sweepStrays() == BlobSweep())
    }

    @Test func `only our names are ours`() {
        let hash = BlobBytes.hash([1])
        for name in [BlobFileName.whole(hash.hash), .partial(hash.hash), .adding(run: .max, number: 0)] {
            #expect(BlobFileName(name.string) == name)
        }
        let text = BlobFileName.whole(hash.hash).string
        for string in [
            "", ".", "..", "lost+found", text.uppercased(), text + ".", text + ".adding", "." + text,
            String(text.dropLast()), text + ".partial.partial", "+1-1.adding", "01-1.adding", "1-.adding", "1.adding",
            "a-b-c.adding",
        ] { #expect(BlobFileName(string) == nil, "\(string)") }
    }
}
