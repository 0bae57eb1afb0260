import SyncModel

/// Any bytes as a frame of a bulk connection: nothing traps, and what is accepted has one form.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBulk(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let frame = try? BulkFrameCodec.decode(bytes) else { return 0 }
    guard let written = try? BulkFrameCodec.encode(frame) else { fatalError("an accepted frame cannot be written") }
    precondition(written == bytes, "a frame has two forms")
    if case .holding(let holding) = frame, case .chunks(let chunks) = holding.part {
        precondition(chunks.count == holding.blob.layout.chunkCount)
        let present = (0..<chunks.count).count { chunks.contains($0) }
        precondition(chunks.presentCount == present && chunks.isComplete == (present == chunks.count))
    }
    return 0
}
