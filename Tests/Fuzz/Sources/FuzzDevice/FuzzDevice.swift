import SyncModel

/// Any text as a device: what is accepted is written back as itself, apart from case, hyphens and spaces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDevice(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    if let device = DeviceID(text: text) {
        let plain = text.uppercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        precondition(plain == device.description.utf8.filter { $0 != UInt8(ascii: "-") }, "another device")
    }
    // The bytes themselves, as a device: their text reads back.
    let bytes = UnsafeBufferPointer(start: start, count: count).prefix(DeviceID.byteCount)
    if let device = DeviceID(bytes: Array(bytes)) {
        precondition(DeviceID(text: device.description) == device, "a device is lost in its text")
    }
    return 0
}
