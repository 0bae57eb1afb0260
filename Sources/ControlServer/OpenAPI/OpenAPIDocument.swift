import CPages

/// The description of the control API, which is part of the program.
enum OpenAPIDocument {
    static let bytes = lanyard_openapi_json.copy
}

extension lanyard_page {
    var copy: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: count)) }
}
