/// The bounds of numbers in the state of a replicated value. `SyncModel` adds the bounds of changes and frames.
package enum Limits {
    /// The bound of every replica's counters. It leaves room to add without overflow, also in a signed integer.
    package static let counters: UInt64 = 1 << 62
    /// Operations one change may count; a run of text counts each scalar.
    package static let operationsPerChange: UInt64 = 1 << 32
}
