import DiscoveryText

/// Any bytes as the TXT part of a record, each string behind its length (RFC 6763, section 6.1): what is made of it is written so
/// that it reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDiscovery(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var rest = Array(UnsafeBufferPointer(start: start, count: count))[...]
    var strings: [[UInt8]] = []
    while let length = rest.popFirst() {
        strings.append(Array(rest.prefix(Int(length))))
        rest = rest.dropFirst(Int(length))
    }
    let text = DiscoveryText(strings: strings)
    if let tag = text.tag { precondition(tag.count == DiscoveryTag.byteCount) }
    precondition(DiscoveryText(strings: text.strings.map { Array($0.utf8) }) == text, "a record reads back as another")
    return 0
}
