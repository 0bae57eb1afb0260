/// Bytes to add, read one part after the other.
package protocol BlobSource {
    /// The number of bytes; nil if it is unknown before the end (standard input).
    var size: UInt64? { get }

    /// - Returns: how many were put into `target`; 0 at the end. Blocks until there are some.
    mutating func read(into target: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int

    /// Called at the end: whether what was read is one state of the source.
    /// - Throws: `sourceChanged`.
    func checkUnchanged() throws(BlobError)
}
