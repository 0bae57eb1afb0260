import SyncModel

/// A planted bug: an unchecked length behind a frame's first bytes. A smoke run that does not find it is blind.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCanary(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard count > 3, bytes[0] == 50, bytes[1] == 2, bytes[2] == 26 else { return 0 }
    _ = bytes[3...][3 + Int(bytes[3])]
    return 0
}
