/// The bytes of blobs that crossed the wire since the agent started, both ways, without frames.
package struct BlobFigures: Hashable, Sendable {
    package var bytesIn: UInt64 = 0
    package var bytesOut: UInt64 = 0

    package init() {}
}
