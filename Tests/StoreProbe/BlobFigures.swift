import Glibc
import SyncModel
import SyncStore

/// Measures blobs at rest on the disk given: small ones in batches, a large one added, received, found again and read.
/// What the same bytes cost with `cp`, `sync` and `sha256sum` is for a shell to measure beside it.
struct BlobFigures {
    let directory: String
    /// Of the large one.
    let megabytes: Int

    private struct NoReferences: BlobNeeds {
        func need(of hash: BlobName) throws(StoreError) -> BlobNeed { .needed }
    }

    func run() throws {
        mkdir(directory, 0o700)
        let store = try ProbeDevice.open(directory + "/store", number: 1)
        let blobs = try open(store, "blobs", run: 1)
        for batch in [10_000, 256, 16] {
            let hashes = try addSmall(blobs, batch)
            if batch == 256 { try receiveSmall(hashes, from: blobs) }
        }
        let path = directory + "/large"
        try writeLarge(path)
        var hash = BlobName(of: [], size: 0)
        let adding = try measure { hash = try blobs.add(from: try FileSource(path: path)) }
        print("add \(megabytes) MiB: \(rate(adding))")
        let again = try measure { _ = try blobs.add(from: try FileSource(path: path)) }
        print("add it again: \(rate(again))")
        let checking = try measure { _ = try blobs.checkAll() }
        print("read and check it: \(rate(checking))")
        try receive(hash, from: blobs)
        print(peakMemory())
        store.close()
    }

    private func open(_ store: SQLiteStore, _ folder: String, run: UInt64) throws -> BlobStore {
        try BlobStore(
            store, files: PosixBlobFiles(folder: directory + "/" + folder), needs: NoReferences(),
            BlobConfiguration(run: run, now: { Int64(time(nil)) * 1_000 }))
    }

    private func addSmall(_ blobs: BlobStore, _ batch: Int) throws -> [BlobName] {
        var contents: [[UInt8]] = []
        for number in 0..<10_000 {
            contents.append((0..<1_024).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ number) >> ($0 & 7)) })
            contents[number].replaceSubrange(0..<8, with: "\(batch % 97)-\(10_000 + number)".utf8)
        }
        var hashes: [BlobName] = []
        let seconds = try measure {
            for start in stride(from: 0, to: contents.count, by: batch) {
                hashes += try blobs.add(Array(contents[start..<min(start + batch, contents.count)]))
            }
        }
        print("add 10000 blobs of 1 KiB, \(batch) a call: \(Int(10_000 / seconds)) blobs/s")
        return hashes
    }

    /// Into another store, as from a peer, a frame at a time.
    private func receiveSmall(_ hashes: [BlobName], from blobs: BlobStore) throws {
        let store = try ProbeDevice.open(directory + "/receiver-of-small", number: 3)
        defer { store.close() }
        let receiver = try open(store, "received-small", run: 1)
        var (serving, taking) = (0.0, 0.0)
        var rest = hashes[...]
        while !rest.isEmpty {
            var small = SmallBlobs()
            serving += try measure { small = try blobs.readSmall(Array(rest.prefix(1_024)), byteBudget: 256 << 10) }
            let frame = small.blobs.map { (name: rest[rest.startIndex + $0.index], bytes: $0.bytes) }
            taking += try measure { _ = try receiver.receive(frame) }
            rest = rest.dropFirst(small.nextIndex)
        }
        print("serve 10000 blobs of 1 KiB, 256 KiB a call: \(Int(10_000 / serving)) blobs/s")
        print("receive them, durable: \(Int(10_000 / taking)) blobs/s")
    }

    private func writeLarge(_ path: String) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        var words = [UInt64](repeating: 0, count: 1 << 17)
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        for _ in 0..<megabytes {
            for index in words.indices {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                words[index] = state
            }
            words.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
        }
        fsync(descriptor)
    }

    /// Into another store, as from a peer; half of it, then, as after a kill, the rest.
    private func receive(_ hash: BlobName, from blobs: BlobStore) throws {
        guard let chunks = try blobs.chunks(of: hash) else { return }
        let store = try ProbeDevice.open(directory + "/receiver", number: 2)
        defer { store.close() }
        var reader = try blobs.open(hash)
        func take(_ range: Range<Int>, _ partial: BlobPartial) throws {
            for chunk in range {
                let bytes = try reader.read(chunk)
                _ = try bytes.withUnsafeBytes { try partial.write($0, as: chunk) }
            }
        }
        let half = chunks.count / 2
        let first = try measure {
            guard let partial = try open(store, "received", run: 1).beginPartial(hash, chunks) else {
                return
            }
            try take(0..<half, partial)
        }
        print("serve and receive the first half: \(rate(2 * first))")
        let receiver = try open(store, "received", run: 2)
        guard let partial = try receiver.resumePartial(hash) else { return }
        var present = 0
        let looking = try measure { present = try partial.present().presentCount }
        print("look at \(present) of \(chunks.count) chunks after a restart: \(rate(2 * looking))")
        let second = try measure {
            try take(half..<chunks.count, partial)
            try partial.complete()
        }
        print("serve and receive the rest, durable: \(rate(2 * second))")
    }

    private func measure(_ body: () throws -> Void) rethrows -> Double {
        let before = now()
        try body()
        return now() - before
    }

    private func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func rate(_ seconds: Double) -> String { "\(Int(Double(megabytes) / seconds)) MiB/s" }

    private func peakMemory() -> String {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return "peak memory: \(usage.ru_maxrss / 1_024) MiB"
    }
}
