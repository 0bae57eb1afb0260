import SyncModel

private let ours = Frame.Hello(
    protocols: 1...2, features: 3, featuresRequired: 1, name: "fuzz", runID: 1, sessionNumber: 1,
    wallMilliseconds: 0, agentVersion: "0.1.0", instance: "", listenPort: 0, waitingRoomBytes: 0)

/// Any bytes as a frame: nothing traps, and what is accepted can be said again and means the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrame(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let frame = try? FrameCodec.decode(bytes) else { return 0 }
    guard let written = try? FrameCodec.encode(frame) else { fatalError("an accepted frame cannot be written") }
    precondition((try? FrameCodec.decode(written)) == frame, "a frame reads back as another")
    if case .hello(let theirs) = frame {
        do { _ = try ours.agreed(with: theirs) } catch { precondition(!error.message.isEmpty) }
    }
    return 0
}
