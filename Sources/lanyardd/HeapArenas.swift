import Glibc

/// The number of heaps that glibc keeps.
///
/// By itself it gives each thread one, up to eight for each processor. A chunk of a file is made on one thread and freed on
/// another, and each heap keeps some of those that were: 18 MiB while a GiB goes to two peers, 10 with two heaps. Small
/// things come from a cache of each thread's own, so the threads seldom meet (mallopt(3), M_ARENA_MAX).
enum HeapArenas {
    private static let count: CInt = 2
    /// malloc.h; not in the headers Swift imports. Another C library goes without.
    private static let arenaMax: CInt = -8

    /// Sets the number of heaps; to be called before threads are started.
    static func share() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)(arenaMax, count)
    }
}
