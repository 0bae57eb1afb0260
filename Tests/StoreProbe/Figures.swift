import Glibc
import SyncModel
import SyncStore

/// Measures the store alone, on the disk given: 150-byte payloads, every commit synced. Rates are by the clock on the wall;
/// beside them what an event costs in processor time, which a busy machine changes less.
struct Figures {
    let directory: String
    let eventCount: Int

    func run() throws {
        mkdir(directory, 0o700)
        try appendOneByOne()
        let segments = try bulkAuthor()
        try catchUp(segments)
        try reopenAndRead()
    }

    private func payload(_ index: Int) -> [UInt8] {
        let head = "{\"index\":\(index),\"text\":\""
        return Array((head + String(repeating: "x", count: 148 - head.utf8.count) + "\"}").utf8)
    }

    private func operation(_ index: Int) -> [Operation] {
        [.appendEvent(Operation.Event(stream: "figures", type: nil, payload: payload(index)))]
    }

    private func appendOneByOne() throws {
        let store = try ProbeDevice.open(directory + "/single", number: 1)
        var times: [Double] = []
        for index in 0..<2_000 {
            let group = [operation(index)]
            times.append(try measure { _ = try store.append(group, wallMilliseconds: Int64(index)) }.wall)
        }
        times.sort()
        print(
            "append, one event a commit: p50 \(micro(times[1_000])) p99 \(micro(times[1_980])) max \(micro(times[1_999]))"
        )
        print("fdatasync of 20 KiB beside it: p50 \(micro(try syncTime()))")
        let reading = try measure {
            _ = try store.events(
                EventQuery(space: .home, stream: "figures", order: .arrival(after: 0), limit: .max, byteBudget: .max))
        }
        print("read 2000 events of single commits: \(rate(2_000, reading))")
        store.close()
    }

    /// What one commit's frames cost to write and sync without SQLite.
    private func syncTime() throws -> Double {
        let path = directory + "/raw"
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer {
            Glibc.close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 1, count: 20_480)
        var times: [Double] = []
        for index in 0..<500 {
            times.append(
                measure {
                    _ = page.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(index * 20_480)) }
                    fdatasync(descriptor)
                }.wall)
        }
        return times.sorted()[250]
    }

    private func bulkAuthor() throws -> [Segment] {
        let store = try ProbeDevice.open(directory + "/author", number: 2)
        var appended = 0
        var time = Spent()
        while appended < eventCount {
            let groups = (appended..<min(appended + 256, eventCount)).map(operation)
            time += try measure { _ = try store.append(groups, wallMilliseconds: Int64(appended)) }
            appended += groups.count
        }
        print("append, 256 events a commit: \(rate(eventCount, time))")
        guard let replica = try store.state().ownReplica else { return [] }
        var segments: [Segment] = []
        let serving = try measure {
            var next: UInt64 = 0
            while true {
                let more = try store.segments(of: replica, from: next, byteBudget: 1 << 20)
                guard let last = more.last else { break }
                segments += more
                next = last.end
            }
        }
        print("serve segments for shipping: \(rate(eventCount, serving)), \(segments.count) segments")
        store.close()
        return segments
    }

    private func catchUp(_ segments: [Segment]) throws {
        guard let replica = segments.first?.replica else { return }
        let key = try ProbeDevice.signingKey(2)
        var verified: [VerifiedSegment] = []
        let verifying = try measure {
            var tip = ReplicaTip.empty(space: .home, replica: replica)
            for segment in segments {
                verified.append(try segment.verified(from: tip, space: .home, signingKey: key))
                tip = verified[verified.count - 1].tip
            }
        }
        print("verify segments: \(rate(eventCount, verifying))")
        let scanning = measure { for segment in verified { _ = SegmentScan(segment) } }
        print("scan segments (streams, digest): \(rate(eventCount, scanning))")
        let store = try ProbeDevice.open(directory + "/reader", number: 3)
        let applying = try measure {
            for index in stride(from: 0, to: verified.count, by: 4) {
                _ = try store.apply(Array(verified[index..<min(index + 4, verified.count)]), wallMilliseconds: 0)
            }
        }
        print("apply, 4 segments a commit: \(rate(eventCount, applying))")
        let digest = try store.state().digest
        let recomputing = try measure {
            let recomputed = try store.recomputedDigest(of: .home)
            precondition(recomputed == digest, "the digest kept step by step is the one of what is stored")
        }
        print("recompute the digest: \(rate(eventCount, recomputing))")
        print(
            "store: \(store.health().bytes / 1_048_576) MiB, \(store.health().bytes / Int64(eventCount)) bytes an event"
        )
        store.close()
    }

    private func reopenAndRead() throws {
        var store: SQLiteStore?
        let opening = try measure {
            store = try ProbeDevice.open(directory + "/reader", number: 3)
            _ = try store?.state()
        }
        print("open and read the state: \(micro(opening.wall))")
        guard let store else { return }
        try read(store, "arrival", limit: 1_000) { last in .arrival(after: last?.position ?? 0) }
        try read(store, "canonical", limit: 1_000) { last in .canonical(after: last?.canonicalKey) }
        let middle = Int64(eventCount / 2)
        let one = try measure {
            for offset in 0..<200 {
                _ = try store.events(
                    EventQuery(
                        space: .home, stream: "figures", order: .arrival(after: middle + Int64(offset * 7)), limit: 1,
                        byteBudget: 1))
            }
        }
        print("read one event out of a bulk segment: \(micro(one.wall / 200))")
        print(residentMemory())
        store.close()
    }

    private func read(
        _ store: SQLiteStore, _ name: String, limit: Int, _ order: (StoredEvent?) -> EventQuery.Order
    ) throws {
        var last: StoredEvent?
        var count = 0
        let time = try measure {
            while true {
                let page = try store.events(
                    EventQuery(
                        space: .home, stream: "figures", order: order(last), limit: limit, byteBudget: 1 << 20))
                guard let newest = page.last else { break }
                count += page.count
                last = newest
            }
        }
        print("read events, \(name) order, pages of \(limit): \(rate(count, time))")
    }

    /// Seconds on the wall and of processor time.
    private struct Spent {
        var wall = 0.0
        var processor = 0.0

        static func += (left: inout Spent, right: Spent) {
            left.wall += right.wall
            left.processor += right.processor
        }
    }

    private func measure(_ body: () throws -> Void) rethrows -> Spent {
        let before = (clock(CLOCK_MONOTONIC), clock(CLOCK_PROCESS_CPUTIME_ID))
        try body()
        return Spent(wall: clock(CLOCK_MONOTONIC) - before.0, processor: clock(CLOCK_PROCESS_CPUTIME_ID) - before.1)
    }

    private func clock(_ id: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(id, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func rate(_ count: Int, _ spent: Spent) -> String {
        let nanoseconds = Int(spent.processor * 1e9 / Double(count))
        return "\(Int(Double(count) / spent.wall)) events/s (processor: \(nanoseconds) ns each)"
    }

    private func micro(_ seconds: Double) -> String { "\(Int(seconds * 1e6)) µs" }

    private func residentMemory() -> String {
        let descriptor = Glibc.open("/proc/self/status", O_RDONLY)
        defer { Glibc.close(descriptor) }
        let text = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, 4096))
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        return lines.filter { $0.hasPrefix("VmRSS") || $0.hasPrefix("VmHWM") }.joined(separator: " ")
    }
}
