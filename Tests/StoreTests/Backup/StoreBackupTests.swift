import Foundation
import SyncModel
import SyncStore
import Testing

/// What a backup of a store holds, and what becomes of it when it is opened.
@Suite(.serialized) struct StoreBackupTests {
    /// A machine with a store, its blobs and an object to attach them to.
    private final class Machine {
        let bed: StoreBed
        let store: SQLiteStore
        let blobs: BlobStore

        init(_ bed: StoreBed, faults: BlobFaults = []) throws {
            self.bed = bed
            let store = try bed.open()
            self.store = store
            var configuration = BlobConfiguration(run: 1, now: { 1_000_000 })
            configuration.reserveBytes = 0
            configuration.faults = faults
            blobs = try BlobStore(
                store, files: PosixBlobFiles(folder: bed.directory + "/blobs"), needs: RecordNeeds(store),
                configuration)
        }

        @discardableResult
        func emit(_ payload: String) throws -> Dot {
            let commit = try store.append([[.event("s", payload)]], wallMilliseconds: 1).segments
            return Dot(replica: try #require(commit.first).segment.replica, counter: commit[0].segment.start)
        }

        func attach(_ bytes: [UInt8], to id: String) throws -> BlobName {
            let hash = try blobs.add(bytes)
            let key = ObjectKey(collection: "album", id: ExactString(id))
            let file = AttachedFile(
                name: "a", mediaType: MediaType(head: [], isWhole: true), image: nil, blob: hash)
            let result = try store.append(
                [.planned([.put(key, .init(fields: [])), .attach(key, file)])], wallMilliseconds: 1)
            _ = try #require(result.outcomes.first).get()
            return hash
        }

        func delete(_ id: String) throws {
            let key = ObjectKey(collection: "album", id: ExactString(id))
            _ = try store.append([.planned([.delete(key, ifVersion: nil)])], wallMilliseconds: 2)
        }
    }

    /// What a backup gives, and `meanwhile` before each step.
    private func save(
        _ machine: Machine, _ meanwhile: (StoreBackup.Step) throws -> Void = { _ in }
    ) throws -> (files: [(name: String, bytes: [UInt8])], leftOut: [BlobName]) {
        let backup = try StoreBackup(machine.blobs)
        var files: [(name: String, bytes: [UInt8])] = []
        var sizes: [UInt64] = []
        while let step = try backup.next() {
            switch step {
            case .blob(let blob):
                files.append(("blobs/" + blob.hash.bytes.hexadecimal, []))
                sizes.append(blob.size)
            case .database(let size):
                files.append(("lanyard.sqlite", []))
                sizes.append(size)
            case .bytes(let bytes): files[files.count - 1].bytes += bytes
            }
            try meanwhile(step)
        }
        #expect(files.map { UInt64($0.bytes.count) } == sizes, "as many bytes as were announced")
        #expect(files.last?.name == "lanyard.sqlite")
        return (files, backup.leftOut)
    }

    /// Another machine's disk with these files, or the same machine with its leases.
    private func restored(_ files: [(name: String, bytes: [UInt8])], on bed: StoreBed) throws -> Machine {
        try? FileManager.default.removeItem(atPath: bed.directory)
        try FileManager.default.createDirectory(atPath: bed.directory + "/blobs", withIntermediateDirectories: true)
        for file in files { try Data(file.bytes).write(to: URL(fileURLWithPath: "\(bed.directory)/\(file.name)")) }
        return try Machine(bed)
    }

    private func leftovers(_ bed: StoreBed) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bed.directory).filter { $0.contains("backup") }
    }

    @Test func `files that only void work attaches are in it`() throws {
        let machine = try Machine(StoreBed(.sqliteInTmpfs))
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        _ = try machine.store.append([[.addMember(TestDevice(2).fact)]], wallMilliseconds: 1)
        try other.pull(from: machine.store)
        _ = try other.append([[.addMember(machine.bed.device.fact)]], wallMilliseconds: 1)
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        let blob = try machine.attach(bytes, to: "away")
        _ = try machine.blobs.add(bytes.reversed())
        _ = try other.append([.retire(machine.bed.device.id)], wallMilliseconds: 1)
        try machine.store.pull(from: other)
        #expect(try machine.store.reference(to: blob, space: .home)?.attachmentCount == 0)
        let saved = try save(machine)
        #expect(saved.leftOut.isEmpty)
        #expect(saved.files.map(\.name).filter { $0.hasPrefix("blobs/") } == ["blobs/" + blob.hash.bytes.hexadecimal])
    }

    @Test func `a backup is of one moment while writes go on, and says the same when it is opened`() throws {
        let machine = try Machine(StoreBed(.sqliteInTmpfs))
        for number in 0..<50 { try machine.emit("\(number)") }
        let large = BlobBytes.some(3 * BlobLayout.chunkBytes + 5, seed: 1)
        let (first, second) = (try machine.attach(large, to: "1"), try machine.attach(Array("small".utf8), to: "2"))
        let before = try machine.store.state()
        let saved = try save(machine) { _ in try machine.emit("99") }
        #expect(saved.leftOut.isEmpty && saved.files.map(\.name).first == "blobs/" + first.hash.bytes.hexadecimal)
        #expect(try leftovers(machine.bed).isEmpty)
        let copy = try restored(saved.files, on: StoreBed(.sqliteInTmpfs))
        #expect(try copy.store.state().digest == before.digest)
        #expect(try copy.store.state().counts == before.counts)
        #expect(try copy.store.recomputedDigest(of: .home) == before.digest)
        #expect(try copy.blobs.bytes(of: first) == large && copy.blobs.bytes(of: second) == Array("small".utf8))
        try copy.store.checkIntegrity()
        let after = try machine.store.state()
        #expect(after.counts.events > before.counts.events, "\(after.counts), \(before.counts)")
    }

    @Test func `a backup holds the log of trust, with the times at which this device learned of it`() throws {
        let machine = try Machine(StoreBed(.sqliteInTmpfs))
        _ = try machine.store.append([[.addMember(TestDevice(2).fact)]], wallMilliseconds: 10)
        try machine.store.setBlocked(TestDevice(2).id, true, wallMilliseconds: 20)
        let before = try machine.store.trust(after: 0, limit: 10)
        #expect(before.map(\.knownMilliseconds) == [10, 20])
        let saved = try save(machine)
        // On a device with another key, what was decided on the first one keeps its author.
        let copy = try restored(saved.files, on: StoreBed(.sqliteInTmpfs, device: TestDevice(3)))
        #expect(try copy.store.trust(after: 0, limit: 10) == before)
        try copy.store.setBlocked(TestDevice(2).id, false, wallMilliseconds: 30)
        let after = try copy.store.trust(after: 0, limit: 10)
        #expect(after.map(\.fact.author) == [TestDevice(1).id, TestDevice(1).id, TestDevice(3).id])
        #expect(after.map(\.isNewest) == [true, false, true])
    }

    @Test(arguments: [true, false])
    func `a backup put back begins a new incarnation, also where nothing was written since`(isLater: Bool) throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let machine = try Machine(bed)
        let old = try machine.emit("1").replica
        let saved = try save(machine)
        if isLater { try machine.emit("2") }
        machine.store.close()
        // The same boot of the same machine, with its lease.
        let restored = try restored(saved.files, on: bed)
        #expect(try restored.store.state().ownReplica == nil)
        #expect(try restored.emit("3").replica != old)
    }

    @Test func `what is open is sealed before, so that the copy and the original never tell two histories`() throws {
        let machine = try Machine(StoreBed(.sqliteInTmpfs))
        try machine.store.leaveOpen()
        let key = ObjectKey(collection: "album", id: "1")
        for number in 1...3 {
            _ = try machine.store.append(
                [.planned([.put(key, .init(fields: [.init(key: "n", value: .integer(Int64(number)))]))])],
                wallMilliseconds: 1)
        }
        let replica = try #require(try machine.store.state().ownReplica)
        let saved = try save(machine) { _ in
            // Open again: what comes now may be folded later.
            _ = try machine.store.append(
                [.planned([.put(key, .init(fields: [.init(key: "n", value: .integer(9))]))])], wallMilliseconds: 2)
        }
        let copy = try restored(saved.files, on: StoreBed(.sqliteInTmpfs))
        let tip = try #require(try copy.store.state().tips.first { $0.replica == replica }?.tip)
        _ = try machine.store.seal()
        let entry = VersionVector.Entry(replica: replica, next: tip.next)
        #expect(try machine.store.heads(at: [entry]) == [tip.head], "what the copy holds, the original serves")
        let now = try #require(try machine.store.state().tips.first { $0.replica == replica }?.tip)
        #expect(now.next > tip.next)
    }

    @Test func `bytes that go or rot meanwhile are left out, and are wanted again`() throws {
        let machine = try Machine(StoreBed(.sqliteInTmpfs))
        let bytes = (0..<3).map { BlobBytes.some(2 * BlobLayout.chunkBytes, seed: UInt64($0 + 1)) }
        let hashes = try bytes.enumerated().map { try machine.attach($1, to: "\($0)") }
        func path(_ hash: BlobName) -> String { "\(machine.bed.directory)/blobs/\(hash.hash.bytes.hexadecimal)" }
        // The second chunk of the first is wrong; the second goes while the first is read.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path(hashes[0])))
        try handle.seek(toOffset: UInt64(BlobLayout.chunkBytes + 3))
        try handle.write(contentsOf: Data([0xFF, 0xFE, 0xFD]))
        try handle.close()
        let saved = try save(machine) { step in
            if case .blob(hashes[0]) = step { try FileManager.default.removeItem(atPath: path(hashes[1])) }
        }
        #expect(saved.leftOut == [hashes[0], hashes[1]])
        let kept = saved.files.filter { file in
            !saved.leftOut.contains { file.name.hasSuffix($0.hash.bytes.hexadecimal) }
        }
        let copy = try restored(kept, on: StoreBed(.sqliteInTmpfs))
        #expect(try copy.blobs.bytes(of: hashes[2]) == bytes[2])
        #expect(try copy.blobs.status(of: hashes[0]) == .missing && copy.blobs.status(of: hashes[1]) == .missing)
        #expect(try copy.store.missingCount(of: .home) == 2, "they are fetched again")
    }

    @Test func `what no record names is not saved, nor a part of what comes`() throws {
        let machine = try Machine(StoreBed(.sqliteInTmpfs))
        let (gone, kept) = (
            BlobBytes.some(BlobLayout.chunkBytes, seed: 1), BlobBytes.some(BlobLayout.chunkBytes, seed: 2)
        )
        let goneHash = try machine.attach(gone, to: "1")
        let keptHash = try machine.attach(kept, to: "2")
        try machine.delete("1")
        let coming = BlobBytes.some(2 * BlobLayout.chunkBytes, seed: 3)
        let partial = try #require(try machine.blobs.begin(coming))
        try partial.write(0, of: coming)
        let saved = try save(machine)
        #expect(saved.files.map(\.name) == ["blobs/" + keptHash.hash.bytes.hexadecimal, "lanyard.sqlite"])
        let copy = try restored(saved.files, on: StoreBed(.sqliteInTmpfs))
        #expect(try copy.blobs.status(of: goneHash) == .missing)
        #expect(try copy.blobs.status(of: BlobBytes.hash(coming)) == .missing)
        #expect(try copy.blobs.usage().wholeCount == 1)
    }

    @Test func `a backup that is stopped, or refused, leaves nothing`() throws {
        let machine = try Machine(StoreBed(.sqliteInTmpfs))
        try machine.emit("1")
        #expect(throws: BlobError.self) { try StoreBackup(machine.blobs, isStopped: { true }) }
        #expect(try leftovers(machine.bed).isEmpty)
        var backup: StoreBackup? = try StoreBackup(machine.blobs)
        #expect(try leftovers(machine.bed).count >= 1)
        _ = backup
        backup = nil
        #expect(try leftovers(machine.bed).isEmpty)
        // A process that was killed in the middle.
        try Data([1]).write(to: URL(fileURLWithPath: machine.bed.directory + "/lanyard.sqlite.backup"))
        machine.store.close()
        let next = try Machine(machine.bed)
        #expect(try leftovers(next.bed).isEmpty)
        #expect(throws: BlobError.store(.closed)) {
            next.store.close()
            _ = try StoreBackup(next.blobs)
        }
    }
}
