/// The size of the store, and whether it takes writes.
package struct StoreHealth: Sendable, Hashable {
    package enum Condition: Sendable, Hashable {
        case ok
        case refusing(StoreError)
    }

    package let bytes: Int64
    package let condition: Condition
    /// The part of `bytes` that is in the write-ahead log.
    package let logBytes: Int64
    /// The disk that the store is on: what an unprivileged process may still write, and all; nil if it does not tell.
    package let freeDiskBytes: Int64?
    package let diskBytes: Int64?

    package init(
        bytes: Int64, condition: Condition, logBytes: Int64 = 0, freeDiskBytes: Int64? = nil, diskBytes: Int64? = nil
    ) {
        self.bytes = bytes
        self.condition = condition
        self.logBytes = logBytes
        self.freeDiskBytes = freeDiskBytes
        self.diskBytes = diskBytes
    }
}
