/// The folder of blobs: what is done to files, step by step, so that a test can let each step fail or be the last.
///
/// Names are `BlobFileName`s. Only `sync` and `syncFolder` make anything durable. Safe from any thread.
package protocol BlobFiles: Sendable {
    /// Makes the folder, durably, unless it is there.
    func prepare() throws(BlobError)

    /// A new, empty file; one that has the name is emptied.
    func create(_ name: BlobFileName) throws(BlobError) -> any BlobFile

    /// Nil: there is none of that name.
    func open(_ name: BlobFileName) throws(BlobError) -> (any BlobFile)?

    /// Takes the place of a file that has the new name. Nothing happens to the bytes.
    /// - Returns: false if there is none of the old name.
    func rename(_ name: BlobFileName, to target: BlobFileName) throws(BlobError) -> Bool

    /// Removes the file. Readers that have it open go on reading it.
    /// - Returns: the number of bytes it had; nil if there is no file of that name.
    @discardableResult
    func remove(_ name: BlobFileName) throws(BlobError) -> UInt64?

    /// Makes all names durable, as they are now.
    func syncFolder() throws(BlobError)

    /// All files whose names are ours; what else lies in the folder is left alone.
    func names() throws(BlobError) -> [BlobFileName]

    /// The free space in bytes; nil if the file system does not tell.
    var freeBytes: UInt64? { get }
}
