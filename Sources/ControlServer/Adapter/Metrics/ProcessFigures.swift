import Glibc

/// The figures of this process, from the kernel.
struct ProcessFigures {
    var cpuSeconds = 0.0
    var residentBytes = 0
    var threads = 0
    var openDescriptors = 0
    var maxDescriptors = 0

    init() {
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        }
        var bound = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &bound) == 0 {
            maxDescriptors = Int(clamping: bound.rlim_cur)
        }
        // proc(5): the second field of `statm` is what is resident, in pages.
        let pages = Self.words(of: "/proc/self/statm")
        if pages.count > 1 { residentBytes = (Int(pages[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) }
        threads = Self.entryCount(of: "/proc/self/task")
        // One of them is the directory that is being read.
        openDescriptors = max(0, Self.entryCount(of: "/proc/self/fd") - 1)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static func words(of path: String) -> [Substring] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return [] }
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
    }

    private static func entryCount(of path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while let entry = readdir(directory) {
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }
}
