import SyncModel

/// The fast scanner says what the slow, obvious reader says.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    precondition(JSONSyntax.isValid(bytes) == ObviousJSON.accepts(bytes), "two readers, two opinions")
    return 0
}
