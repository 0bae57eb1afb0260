import CStore

/// The memory of this process, in which there are keys.
package enum ProcessMemory {
    /// Hides the memory of the process: no other process of the same user may read it, and no core file holds it: prctl(2),
    /// PR_SET_DUMPABLE.
    /// - Returns: true if the call succeeded.
    @discardableResult
    package static func keepPrivate() -> Bool { lanyard_keep_memory_private() }
}
