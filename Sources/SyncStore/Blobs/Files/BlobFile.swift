/// An open file of a blob, closed with its last reference. Offsets and counts are in bytes. Safe from any thread.
package protocol BlobFile: AnyObject, Sendable {
    /// All of it, or an error; then any part of it may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(BlobError)

    /// Has bytes written out that a sync will ask for later, a few calls ahead at most: so a sync finds little to do, and
    /// those of others on this disk wait behind little. Promises nothing; an error means what one of `sync` means.
    func writeOut(_ range: Range<UInt64>) throws(BlobError)

    /// - Returns: how many there were; fewer than `target` holds only at the end of the file.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) -> Int

    /// Makes the bytes durable; not the name. After an error none of what was written since the last sync can be trusted
    /// to become so, whatever a later sync says, though it reads back as written until the machine stops.
    func sync() throws(BlobError)

    /// The next bytes at or behind `offset` that were ever written, up to the next gap; nil: there are none.
    func written(from offset: UInt64) throws(BlobError) -> Range<UInt64>?
}
