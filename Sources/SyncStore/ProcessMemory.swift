import CStore

/// The memory of this process, in which there are keys.
package enum ProcessMemory {
    /// From now on no other process of the same user may read it, and no core file holds it: prctl(2), PR_SET_DUMPABLE.
    /// - Returns: whether it is so.
    @discardableResult
    package static func keepPrivate() -> Bool { lanyard_keep_memory_private() }
}
