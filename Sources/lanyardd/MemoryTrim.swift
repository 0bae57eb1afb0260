import Glibc
import ServiceLifecycle

/// Gives memory back when the process has nothing to do.
///
/// Starting and working touch most of the program's code, and the kernel maps what lies around: some 40 MiB that stay
/// counted as ours though an idle agent needs a tenth. So once a period was quiet, free heap goes back to the kernel and
/// code is unmapped. The code stays in the page cache; what is needed again is mapped by the next few hundred faults,
/// together well under a millisecond. Neither changes what the process holds or does.
struct MemoryTrim: Service {
    private static let period = Duration.seconds(10)
    /// Processor time in a period up to which it counts as quiet: pings and timers, not work.
    private static let quietMicroseconds = 50_000
    /// The growth since the last trim that makes another worthwhile.
    private static let growthBytes = 8 << 20

    /// Releases memory that is only held to be faster the next time.
    let forget: @Sendable () -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var state = State(forget: forget)
            while (try? await Task.sleep(for: Self.period)) != nil { state.look() }
        }
    }

    private struct State {
        let forget: @Sendable () -> Void
        var processorMicroseconds = MemoryTrim.processorTime()
        var residentBytesAfterTrim = 0

        mutating func look() {
            let before = processorMicroseconds
            processorMicroseconds = MemoryTrim.processorTime()
            guard processorMicroseconds - before <= quietMicroseconds, let resident = MemoryTrim.residentBytes(),
                resident - residentBytesAfterTrim >= growthBytes
            else { return }
            forget()
            MemoryTrim.trimHeap()
            MemoryTrim.unmapCode()
            residentBytesAfterTrim = MemoryTrim.residentBytes() ?? 0
        }
    }

    /// Returns the processor time of all threads, user and kernel.
    private static func processorTime() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func microseconds(_ time: timeval) -> Int { Int(time.tv_sec) * 1_000_000 + Int(time.tv_usec) }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }

    /// The second field of /proc/self/statm, proc(5).
    private static func residentBytes() -> Int? {
        let fields = lines(of: "/proc/self/statm").first?.split(separator: " ") ?? []
        return fields.count > 1 ? Int(fields[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
    }

    /// malloc_trim(3) is glibc's own and not in the headers Swift imports; another C library goes without.
    private static func trimHeap() {
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
    }

    /// Unmaps code: pages mapped from a file for execution and not for writing. They cannot have changed, so the file has them
    /// again (madvise(2), MADV_DONTNEED on a file mapping). Relocated data is mapped apart and is not touched.
    private static func unmapCode() {
        for line in lines(of: "/proc/self/maps") {
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count == 6, fields[1] == "r-xp", fields[5].contains("/") else { continue }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2, let start = UnsafeMutableRawPointer(bitPattern: bounds[0]) else { continue }
            madvise(start, Int(bounds[1] - bounds[0]), Int32(MADV_DONTNEED))
        }
    }

    /// Files of /proc tell no size, so they are read to their end.
    private static func lines(of path: String) -> [Substring] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while case let count = read(descriptor, &part, part.count), count > 0 { bytes += part[..<count] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
